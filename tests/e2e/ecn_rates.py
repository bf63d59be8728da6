"""TCP over an air of a limited rate, through a bearer with ECN marks and through one without: throughput and the delay
that a probe flow of the same bearer finds, as JSON in the file named.

What judges is the kernel: its tbf is the bottleneck, its TCP reacts to the marks, and it drops a wrong IPv4 checksum.
Probes carry no ECT, and the kernel stamps their arrival."""

from __future__ import annotations

import contextlib
import json
import multiprocessing
import socket
import struct
import sys
import threading
import time
from dataclasses import asdict, dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "demo")]

import configs  # noqa: E402
from baas_bed import BaasBed  # noqa: E402
from namespaces import AirLink, N3Link  # noqa: E402
from processes import run, wait_until  # noqa: E402
from testbed import Testbed  # noqa: E402
from upf import SERVER_IPV4  # noqa: E402
from wire import SO_RCVBUFFORCE, socket_in  # noqa: E402

LINK, AIR = N3Link(), AirLink()
MBIT = 20
# 512 SDUs are 300 ms at that rate: what a drop-tail queue of a radio often has.
AM = {"t_poll_retransmit_ms": 20, "t_reassembly_ms": 5, "t_status_prohibit_ms": 2, "max_unacked": 512}
PLAIN, MARKED, SECURED, RAMP = 1, 2, 3, 4
TCP_CONGESTION, SO_TIMESTAMPNS, IP_RECVTOS = 13, 35, 13
ECT1, CE = 1, 3
PROBE_EVERY_S = 0.004


def bearer(number: int, **more) -> dict:
    return configs.bearer(number, upf=LINK.upf_ipv4, shard=number, rlc="am18", pdcp_sn=18, am=AM, **more)


BEARERS = [
    bearer(PLAIN),
    bearer(MARKED, ecn={}),
    bearer(SECURED, ecn={}, security={"key": 1}),
    bearer(RAMP, ecn={"law": "ramp"}),
]
KEYS = "1 000102030405060708090a0b0c0d0e0f 101112131415161718191a1b1c1d1e1f\n"


def address(number: int) -> str:
    return BEARERS[number - 1]["ue_ipv4"]


class EcnBed(BaasBed):
    """A gNB whose air carries MBIT. The windows are in the worker (`inline`) or in the service (`process`)."""

    def __init__(self, folder: Path, name: str, place: str = "inline"):
        keys = folder / "keys"
        keys.unlink(missing_ok=True)
        keys.touch(mode=0o600)
        keys.write_text(KEYS)
        self.keys = str(keys)
        tree = configs.one_worker(name, BEARERS) | {"key_file": self.keys, "journal": str(folder / "journal")}
        tree["workers"]["w0"]["baas"] = place
        if place == "process":
            tree["baas"] = {"cores": [1]}
        tree["ports"]["air"] = configs.af_packet(AIR.gnb_interface, 1, more=",qdisc_bypass=0")
        super().__init__(folder, name, tree)

    def put_in_front(self):
        if "baas" in self.tree:
            super().put_in_front()

    def ue_tree(self, tree: dict) -> dict:
        tree["ue"] |= {"key_file": self.keys, "air": {"seed": 7, "downlink": {}, "uplink": {}}}
        return tree

    def set_delay(self, delay_us: int):
        """Of the air behind the bottleneck, each way."""
        self.ues[0].control.call("air.set", downlink={"delay_us": delay_us}, uplink={"delay_us": delay_us})

    def begin(self):
        self.wait_for_neighbours()
        for number in (PLAIN, MARKED, SECURED, RAMP):
            wait_until("a packet to pass", lambda n=number: self.ping(address(n), 1, wait_s=1) == 1)
        for netns in (self.network.core, self.network.ue):
            run(["sysctl", "-q", "-w", "net.ipv4.tcp_ecn=1"], netns=netns)
        rate = ["rate", f"{MBIT}mbit", "burst", "4000", "limit", "20000000"]
        run(["tc", "qdisc", "add", "dev", AIR.gnb_interface, "root", "tbf", *rate], netns=self.network.gnb)

    def show(self, number: int) -> dict:
        return self.gnb.control.call("bearer.show", id=configs.identity(number))

    def counters(self, number: int) -> dict:
        return self.show(number)["rlc_am"].get("ecn", {})

    def marked(self) -> int:
        found = [self.counters(number) for number in (MARKED, SECURED, RAMP)]
        return sum(one["marked_ect0"] + one["marked_ect1"] for one in found)


class Probe:
    """Datagrams with their time of sending, each PROBE_EVERY_S, from the server to the UE."""

    def __init__(self, bed: Testbed, ue: str):
        self.receiver = socket_in(bed.network.ue, socket.AF_INET, socket.SOCK_DGRAM)
        self.receiver.bind((ue, 0))
        self.receiver.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
        self.receiver.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 8 << 20)
        self.sender = socket_in(bed.network.core, socket.AF_INET, socket.SOCK_DGRAM)
        self.sender.bind((SERVER_IPV4, 0))
        self.sender.connect(self.receiver.getsockname())
        self.end = multiprocessing.Event()
        self.process = multiprocessing.Process(target=self._send, daemon=True)
        self.process.start()

    def _send(self):
        due = time.monotonic()
        while not self.end.is_set():
            self.sender.send(struct.pack("!Q", time.time_ns()))
            due += PROBE_EVERY_S
            time.sleep(max(0.0, due - time.monotonic()))

    def stop(self) -> list[tuple[float, float]]:
        """When each probe was sent, and how long it took, in seconds."""
        self.end.set()
        self.process.join()
        found = []
        self.receiver.settimeout(0.8)
        with self.sender, self.receiver, contextlib.suppress(TimeoutError):
            while True:
                data, ancillary, _, _ = self.receiver.recvmsg(64, 128)
                seconds, nanoseconds = struct.unpack("qq", ancillary[0][2][:16])
                (sent,) = struct.unpack("!Q", data)
                found.append((sent * 1e-9, seconds - sent * 1e-9 + nanoseconds * 1e-9))
        return found


@dataclass
class Outcome:
    """Of one flow over one bearer."""

    mbit: float
    p50_ms: float
    p99_ms: float
    ecn: bool  # the flow's ends agreed on it
    marked: int  # packets, as the gNB counts them


def percentile(values: list[float], percent: float) -> float:
    values = sorted(values)
    return values[min(len(values) - 1, int(len(values) * percent / 100))]


def has(algorithm: str) -> bool:
    """Whether this kernel has the congestion control."""
    with socket.socket() as probe:
        try:
            probe.setsockopt(socket.IPPROTO_TCP, TCP_CONGESTION, algorithm.encode())
        except OSError:
            return False
    return True


class TcpFlow:
    """The server sends to the UE as fast as TCP lets it."""

    def __init__(self, bed: Testbed, ue: str, algorithm: str):
        listener = socket_in(bed.network.ue, socket.AF_INET, socket.SOCK_STREAM)
        listener.bind((ue, 0))
        listener.listen(1)
        self.sender = socket_in(bed.network.core, socket.AF_INET, socket.SOCK_STREAM)
        self.sender.setsockopt(socket.IPPROTO_TCP, TCP_CONGESTION, algorithm.encode())
        self.sender.bind((SERVER_IPV4, 0))
        self.sender.settimeout(10)
        self.sender.connect(listener.getsockname())
        self.receiver, _ = listener.accept()
        listener.close()
        self.octets, self.ended = 0, False
        self.threads = [threading.Thread(target=job, daemon=True) for job in (self._send, self._receive)]
        for thread in self.threads:
            thread.start()

    def _send(self):
        data = bytes(1 << 16)
        with contextlib.suppress(OSError):
            while not self.ended:
                self.sender.send(data)

    def _receive(self):
        room = bytearray(1 << 18)
        with contextlib.suppress(OSError):
            while octets := self.receiver.recv_into(room):
                self.octets += octets

    def ecn(self) -> bool:
        info = self.sender.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 104)
        return (info[5] & 8) != 0  # tcpi_options, TCPI_OPT_ECN

    def stop(self):
        self.ended = True
        self.sender.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.sender.shutdown(socket.SHUT_RDWR)
        for thread in self.threads:
            thread.join(10)
        self.sender.close()
        self.receiver.close()


class ScalableFlow:
    """Datagrams with ECT(1) under the rule of RFC 8257, which no kernel here has for ECT(1): the window shrinks by half
    of the share of CE in a round trip. The receiver tells the sender of each datagram whether it had CE."""

    PAYLOAD = 1400

    def __init__(self, bed: Testbed, ue: str):
        self.receiver = socket_in(bed.network.ue, socket.AF_INET, socket.SOCK_DGRAM)
        self.receiver.bind((ue, 0))
        self.receiver.setsockopt(socket.IPPROTO_IP, IP_RECVTOS, 1)
        self.receiver.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 8 << 20)
        self.sender = socket_in(bed.network.core, socket.AF_INET, socket.SOCK_DGRAM)
        self.sender.bind((SERVER_IPV4, 0))
        self.sender.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, ECT1)
        self.sender.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 8 << 20)
        self.sender.connect(self.receiver.getsockname())
        self.end = multiprocessing.Event()
        self.received = multiprocessing.Value("Q", 0)
        self.processes = [multiprocessing.Process(target=job, daemon=True) for job in (self._send, self._receive)]
        for process in self.processes:
            process.start()

    @property
    def octets(self) -> int:
        return self.received.value

    def _receive(self):
        self.receiver.settimeout(0.2)
        while not self.end.is_set():
            try:
                data, ancillary, _, sender = self.receiver.recvmsg(2048, 64)
            except TimeoutError:
                continue
            self.received.value += len(data)
            self.receiver.sendto(data[:4] + bytes([ancillary[0][2][0] & 3]), sender)

    def _send(self):
        window, share, sent, acknowledged, round_end = 10.0, 1.0, 0, 0, 10
        seen = marked = 0
        starts = True
        filler = bytes(self.PAYLOAD - 4)
        self.sender.settimeout(0.2)
        while not self.end.is_set():
            while sent - acknowledged < window:
                self.sender.send(struct.pack("!I", sent) + filler)
                sent += 1
            try:
                data = self.sender.recv(64)
            except TimeoutError:
                acknowledged = sent  # what is missing is given up
                continue
            number = struct.unpack("!I", data[:4])[0] + 1
            seen, marked = seen + 1, marked + (data[4] == CE)
            starts = starts and data[4] != CE
            window += 1 if starts else 1 / window
            acknowledged = max(acknowledged, number)
            if number < round_end:
                continue
            share += (marked / seen - share) / 16
            if marked:
                window = max(2.0, window * (1 - share / 2))
            seen = marked = 0
            round_end = sent

    def ecn(self) -> bool:
        return True

    def stop(self):
        self.end.set()
        for process in self.processes:
            process.join(10)
        self.sender.close()
        self.receiver.close()


def measure(bed: EcnBed, number: int, flow: str, seconds: float, settle_s: float = 1) -> Outcome:
    """One flow over the bearer; its first `settle_s` do not count. The shortest delay of the probes is that of a path
    with an empty queue: they begin before the flow."""
    ue = address(number)
    before = bed.counters(number)
    probe = Probe(bed, ue)
    time.sleep(0.3)
    made = ScalableFlow(bed, ue) if flow == "scalable" else TcpFlow(bed, ue, flow)
    time.sleep(settle_s)
    begin, octets = time.time(), made.octets
    time.sleep(seconds)
    end, octets = time.time(), made.octets - octets
    ecn = made.ecn()
    made.stop()
    probes = probe.stop()
    path = min(delay for _, delay in probes)
    queueing = [delay - path for sent, delay in probes if begin <= sent <= end]
    assert len(queueing) > seconds / PROBE_EVERY_S / 2, f"{len(queueing)} probes arrived"
    after = bed.counters(number)
    marked = sum(after[key] - before[key] for key in ("marked_ect0", "marked_ect1")) if after else 0
    return Outcome(
        octets * 8e-6 / (end - begin), percentile(queueing, 50) * 1e3, percentile(queueing, 99) * 1e3, ecn, marked
    )


# Each with marks is judged by the same flow over the bearer without.
RUNS = {
    "cubic": (PLAIN, "cubic", 0),
    "cubic_marked": (MARKED, "cubic", 0),
    "cubic_secured_marked": (SECURED, "cubic", 0),
    "dctcp": (PLAIN, "dctcp", 0),
    "dctcp_marked": (MARKED, "dctcp", 0),
    "scalable_step": (MARKED, "scalable", 0),
    "scalable_ramp": (RAMP, "scalable", 0),
    # The path becomes longer while the gNB lives, which must not look like a queue.
    "longer_path": (PLAIN, "cubic", 10_000),
    "longer_path_marked": (MARKED, "cubic", 10_000),
}
SECONDS, SETTLE_S = 20, 4


def main(path: Path) -> None:
    folder = path.resolve().parent / "ecn-rates"
    folder.mkdir(parents=True, exist_ok=True)
    found = {}
    with EcnBed(folder, "ecnrate") as bed:
        bed.begin()
        for name, (number, flow, delay_us) in RUNS.items():
            if flow not in ("cubic", "scalable") and not has(flow):
                continue
            bed.set_delay(delay_us)
            found[name] = asdict(measure(bed, number, flow, SECONDS, SETTLE_S if delay_us else 1))
            print(name, found[name], flush=True)
    path.write_text(json.dumps(found, indent=2) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
