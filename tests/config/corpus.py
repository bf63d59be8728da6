"""Good files, and what a mistake is: one edit of a good file, marked where the refusal must point.

`>>` in an edit marks the line that the message must name (it is taken out before use). `schema` says whether the JSON
schema can express the rule too; what lies between parts of a file (references, sums, duplicates) it cannot.
"""

from __future__ import annotations

from dataclasses import dataclass

RUN = """\
file_prefix: corpus
control: /run/splitplane/corpus.sock
journal: /var/lib/splitplane/corpus.journal
log_level: debug
instance: 63
key_file: /var/lib/splitplane/corpus.keys
max_bearers: 1024
lookup: teid
foreign_teids: 8
sysfs_root: /sys
log_format: json
metrics: {listen: "127.0.0.1:9464", bearers: 100}
memory: {hugepages: never, megabytes: 1000, mbufs: 32767, mbuf_data_bytes: 2048}
ports:
  n3:
    device: net_af_packet0,iface=eth1,qpairs=2
    rx_queues: 2
    tx_queues: 2
    rx_descriptors: 512
    tx_descriptors: 0x200
    mtu: 1500
    promiscuous: false
    checksum: software
  air: {device: "net_ring0", rx_queues: 2, tx_queues: 2}
  n3b: {device: "0000:3b:00.1"}
  airb: {device: "eth_vhost0,iface=/run/vf.sock"}
  left: {device: net_null0}
  right: {device: net_null1}
n3:
  - port: n3
    ipv4: 10.100.0.1
    ipv6: fd00:100::1
    gateway_ipv4: 10.100.0.254
    gateway_ipv6: fd00:100::fe
    peer_mac: 02:00:00:00:00:01
    echo: {interval_s: 0, timeout_s: 60, retries: 10}
    error_indications_per_s: 10000
    released_teid_silence_s: 0
    vlan: 4094
    dscp: [5=46, 0=63]
    any_source: true
  - port: n3b
    ipv4: 10.101.0.1
air:
  - port: air
    peer_mac: "ff:ff:ff:ff:ff:ff"
  - port: airb
workers:
  d:
    function: dispatch
    core: 0
    n3: n3
    air: air
    to: [w0, w1]
    policy: yield
  w0:
    function: gnb
    core: 0
    features: clone
    n3: n3
    air: air
    queue: 0
    shards: 0-99
    baas: inline
    max_copies: 1024
    max_copy_octets: 1048576
    policy: {kind: yield, empty_rounds: 100, sleep_us: 10}
  w1:
    function: gnb
    core: 4
    n3: n3
    air: air
    queue: 1
    shards: 100-199
    policy:
      kind: paper
      short_idle_polls: 1
      long_idle_polls: 1000000
      short_idle_us: 1000
      step_packets: 0
      climb_packets: 1
      max_packets: 65535
      trend_step: 1
      trend_climb: 2
      trend_limit: 1000000000
      wait_ms: 1
      trend_decay_us: 1
      down_dwell_ms: 60000
      down_utilisation: 1
  w2:
    function: gnb
    core: 1
    features: mat
    n3: n3b
    air: airb
    shards: 200-255
    policy: busy
  c:
    function: copies
    core: 5
    from: [w0]
    policy: {kind: l3fwd, wait_ms: 1000}
  l:
    function: l2fwd
    core: 2
    rx: left
    tx: right
    queue: 0
    schedule: fifo
    fifo_priority: 99
    numa: 1
    slow_clock: 0.5
    policy: {kind: busy}
power: {sensor: rapl, profile: config/power/ssp2022.yaml, governor: epp, uncore_mhz: 1500,
        supply_watts: 920, unmetered_watts: 11.5}
bearers:
  - count: 4
    upf: 10.100.0.2
    ul_teid: 0x1001
    dl_teid: 0x70000001
    qfi: 63
    rlc: am12
    pdcp_sn: 12
    sdap: true
    poll_pdu: 0
    require_psc: true
    n3_reorder: {window: 1024, timer_ms: 1}
    ecn: {law: ramp, target_us: 500, classic_target_us: 1000000}
    security: {cipher: nea3, integrity: none, key: 4294967292, drb: 32, t_reordering_ms: 3000}
    am: {t_poll_retransmit_ms: 4000, t_reassembly_ms: 0, t_status_prohibit_ms: 0, max_retx: 1, max_unacked: 131072,
         max_unacked_octets: 1}
    ue_ipv4: 10.45.0.2
    ue_ipv6: fd00:45::2
    shard: 0
  - upf: fd00:100::2
    ul_teid: 1
    sdap: {dl: false, ul: true}
    shard: 150
  - {upf: 10.101.0.2, ul_teid: 4294967295, rlc: um6, pdcp_sn: 18, sdap: {}, shard: 255}
sessions:
  - {upf: 10.103.0.2, ul_teid: 0x2001, default_drb: 1, shard: 7,
     bearers: [{drb: 1, flows: [9]}, {drb: 32, flows: [0, 62], reflective: true, rlc: um12, pdcp_sn: 12,
               security: {cipher: nea1, integrity: nia3, key: 9, t_reordering_ms: 20}}]}
taps:
  - port: n3
    file: /tmp/splitplane-n3.pcapng
    name: core
    worker: w1
    direction: in
    max_mb: 100
    files: 4
    snap: 128
    buffers: 1023
  - {port: air, file: a.pcapng, view: pdcp-nr, bearer: 0xfc000001, snap: 512}
"""

UE = """\
file_prefix: corpus-ue
memory: {megabytes: 200}
ports:
  air: {device: "net_af_packet0,iface=eth1"}
ue:
  port: air
  tun: splitue1
  tun_mtu: 1450
  default_route: true
  gnb_control: /run/splitplane/corpus.sock
  key_file: /var/lib/splitplane/corpus.keys
  peer_mac: 02:00:00:00:00:02
  core: 1
  policy: {kind: budget, latency_us: 1, spin_us: 0, max_sleep_ms: 1000, dwell_ms: 1, utilisation: 0.05}
  air:
    seed: 0xffffffffffffffff
    capacity: 1000
    downlink: {loss_percent: 2.5, burst_length: 4, delay_us: 500, reorder_percent: 1e-1}
    uplink:
      duplicate_percent: 100
      jitter_us: 0x10
"""

FULL = """\
file_prefix: corpus-full
key_file: /var/lib/splitplane/corpus.keys
ports:
  n3: {device: "net_af_packet0,iface=eth1"}
n3:
  - {port: n3, ipv4: 10.100.0.1}
workers:
  w0:
    function: gnb
    core: 0
    features: full
    n3: n3
    phy:
      address: 10.9.0.2
      p5_port: 7801
      p7_port: 7802
      local: 10.9.0.1
      local_p5_port: 7811
      local_p7_port: 7812
      phy_id: 3
      max_datagram: 8972
      numerology: 0
      prbs: 52
      dl_mcs: 28
      ul_mcs: 0
      lead_slots: 3
      feedback_slots: 8
      request_slots: 10
      max_retransmissions: 0
      max_ues: 64
      max_grants: 4
"""

PHY = """\
file_prefix: corpus-phy
memory: {megabytes: 100, mbufs: 8191}
phy:
  local: 10.9.0.2
  local_p5_port: 7801
  local_p7_port: 7802
  address: 10.9.0.1
  p5_port: 7811
  p7_port: 7812
  phy_id: 3
  max_datagram: 8972
  core: 1
  seed: 5
  downlink: {loss_percent: 5, burst_length: 2.5}
  uplink: {loss_percent: 1e-1}
  dci_loss_percent: 1
  capture: {file: out/mac.pcapng, lost: true, max_mb: 10, files: 2}
ue:
  tun: splitue2
  tun_mtu: 1500
  default_route: true
  tun_ues: 0
  gnb_worker: 1
  gnb_control: /run/splitplane/corpus.sock
  key_file: /var/lib/splitplane/corpus.keys
"""

GEN = """\
file_prefix: corpus-gen
memory: {megabytes: 600}
ports:
  n3: {device: "net_memif0,role=client"}
  air: {device: "net_memif1,role=client"}
gen:
  port: n3
  core: 1
  direction: downlink
  rate: 100000
  arrivals: {kind: ramp, to: 200000, over_s: 5}
  sizes: [{bytes: 80, weight: 7}, {bytes: 1400}]
  order: random
  seed: 0
  packets: 1000
  duration_s: 10
  late_us: 50
  on_refusal: give_up
  inner: ipv6
  peer_mac: 02:00:00:00:00:01
  gnb_ipv4: 10.100.0.1
  gnb_ipv6: fd00:100::1
  server_ipv4: 10.200.0.1
  server_ipv6: fd00:200::1
  gnb_control: /run/splitplane/corpus.sock
  bearers:
    - id: 0x04000000
      count: 300
      shards: 256
      upf: 10.100.0.2
      qfi: 5
      rlc: am12
      pdcp_sn: 12
      sdap: {dl: false}
      poll_pdu: 16
      ue_ipv6: fd00:45::2
    - {id: 67108865, upf: fd00:100::2, ue_ipv4: 10.45.0.2, ue_ipv6: fd00:46::2}
sink:
  port: air
  core: 1
  flows: 1000
  window: 1024
  hlog: out/latency.hlog
  idle_s: 3
"""

REPLAY = """\
ports: {p: {device: net_ring0}}
gen: {port: p, replay: out/some.pcap, speed_percent: 200, arrivals: {kind: bursts, packets: 8}, sizes: imix}
"""

CARD = """\
file_prefix: corpus-nic
memory: {megabytes: 600}
ports:
  n3: {device: "0000:3b:00.0"}
  air: {device: "net_af_packet0,iface=eth1"}
  vf-n3: {device: "net_virtio_user0,path=/run/vf-n3.sock,queues=8", rx_queues: 8, tx_queues: 8}
  vf-air: {device: "net_virtio_user1,path=/run/vf-air.sock,queues=8", rx_queues: 8, tx_queues: 8}
  vf-copies: {device: "net_virtio_user2,path=/run/vf-copies.sock"}
card:
  name: card1
  program: gnb
  features: clone
  lookup: teid
  marks: 32
  spread: turn
  specs: /opt/splitplane/p4
  core: 3
  numa: 1
  policy: {kind: l3fwd, wait_ms: 5}
  schedule: fifo
  fifo_priority: 10
  execution: interpreted
  n3: n3
  air: air
  vfs: [vf-n3, vf-air, vf-copies]
  punt_n3: vf-n3
  punt_air: vf-air
  verify_udp_checksum: true
  max_bearers: 1024
"""

# Behind two cards: two workers by VF, and one that reads another card's copies alone.
CARDS = """\
file_prefix: corpus-cards
memory: {megabytes: 1400, mbufs: 65535}
ports:
  vf-n3: {device: "eth_vhost0,iface=/run/vf-n3.sock,queues=2", rx_queues: 2, tx_queues: 2}
  vf-air: {device: "eth_vhost1,iface=/run/vf-air.sock,queues=2", rx_queues: 2, tx_queues: 2}
  vf-copies: {device: "eth_vhost2,iface=/run/vf-copies.sock"}
  n3b: {device: "eth_vhost3,iface=/run/n3b.sock"}
  airb: {device: "eth_vhost4,iface=/run/airb.sock"}
n3:
  - {port: vf-n3, ipv4: 10.100.0.1, ipv6: "fd00:100::1"}
  - {port: n3b, ipv4: 10.101.0.1}
air: [{port: vf-air}, {port: airb}]
workers:
  w0: {function: gnb, core: 0, n3: vf-n3, air: vf-air, queue: 0, shards: 0-99}
  w1: {function: gnb, core: 1, n3: vf-n3, air: vf-air, queue: 1, shards: 100-199}
  w2: {function: gnb, core: 2, n3: n3b, air: airb, shards: 200-255}
  c:
    function: copies
    core: 3
    rx: vf-copies
cards:
  card0:
    control: /run/splitplane/corpus-nic.sock
    vfs: [vf-n3, vf-air, vf-copies]
    n3: vf-n3
    air: vf-air
    copies: vf-copies
    numa: 1
  card1: {control: /run/splitplane/corpus-nic1.sock, vfs: [n3b, airb], n3: n3b, air: airb}
placement:
  mode: ratio
  ratio: 40
  ratio_of: load
  load_of: octets
  period_ms: 1000
  load_ms: 5000
  most_moves_per_second: 200
  min_stay_ms: 10000
  hysteresis: 50
  consolidate: true
  consolidate_fill: 50
  consolidate_busy: 90
  consolidate_calm_ms: 5000
  pin:
    - {on: card0, upf: 10.100.0.2, ul_teid: 0x1001, count: 2}
    - {on: host, upf: "fd00:100::2", ul_teid: 1}
    - {on: host, upf: 10.100.0.2, ul_teid: 0x1003}
bearers:
  - count: 4
    upf: 10.100.0.2
    ul_teid: 0x1001
    card: card0
    shard: 150
  - {upf: "fd00:100::2", ul_teid: 1, shard: 0}
"""

# Several cores share the card's bearers.
CARD_CORES = CARD.replace("  core: 3\n", "  cores: [3, 5, 4]\n")

P4WIRE = """\
ports:
  n3: {device: net_null0}
  air: {device: net_null1}
  vfs: {device: "eth_vhost0,iface=/run/vf.sock,queues=2", rx_queues: 2, tx_queues: 2}
card: {program: p4wire, n3: n3, air: air, vfs: [vfs], wire: {n3: spread, air: 1, vfs: [n3, air]}}
"""

GUARD = """\
file_prefix: corpus-guard
metrics: {listen: "127.0.0.1:9469"}
memory: {megabytes: 600}
ports:
  outside: {device: "0000:3b:00.0", checksum: offload}
  inside: {device: "0000:3b:00.1"}
guard:
  client: outside
  server: inside
  core: 2
  policy: {kind: budget, latency_us: 20}
  schedule: fifo
  fifo_priority: 5
  slow_clock: 0.05
  key_seconds: 10
  unproven_per_second: 0
  replies_per_second: 1000000000
  state_file: /run/splitplane/corpus-guard.state
  sources: {entries: 64, cookie_seconds: 1, vouched_seconds: 65535, syn_per_second: 1, flows_each: 65535}
  flows: {entries: 67108864, connecting_seconds: 1, established_seconds: 1, closing_seconds: 1, closed_seconds: 1}
  servers:
    - name: web
      address: 10.70.0.0/24
      ports: 8000-8099
      mode: proxy
      arm: always
      arm_syns_per_second: 2
      arm_half_open_percent: 100
      always_syns_per_second: 3
      disarm_syns_per_second: 1
      hold_seconds: 3600
      rearm_seconds: 0
      max_hold_seconds: 86400
      mss: 536
      window_scale: 14
    - {name: mail, address: "fd00:70::/64", ports: 25, mode: auth}
    - {name: all, address: 0.0.0.0/0, mode: observe}
    - {name: none, address: "fd00:70::1", ports: "0", mode: bypass}
"""

# Several workers, a queue of each port for each.
GUARD_WORKERS = """\
ports:
  outside: {device: "0000:3b:00.0", rx_queues: 2, tx_queues: 2}
  inside: {device: "0000:3b:00.1", rx_queues: 2, tx_queues: 2}
guard:
  client: outside
  server: inside
  workers: [{core: 2, policy: busy}, {core: 3, schedule: fifo, fifo_priority: 9}]
"""

SMALL = """\
ports: {p: {device: net_null}}
workers: {w: {function: l2fwd, core: 0, rx: p, tx: p}}
"""

GOOD = {
    "run": RUN,
    "ue": UE,
    "full": FULL,
    "phy": PHY,
    "gen": GEN,
    "replay": REPLAY,
    "small": SMALL,
    "card": CARD,
    "card-cores": CARD_CORES,
    "cards": CARDS,
    "p4wire": P4WIRE,
    "guard": GUARD,
    "guard-workers": GUARD_WORKERS,
}


@dataclass(frozen=True)
class Mistake:
    find: str  # in `base`, once
    replace: str
    key: str
    says: str
    schema: bool = True
    base: str = RUN

    @property
    def marked(self) -> str:
        assert self.base.count(self.find) == 1, f"{self.find!r} is there {self.base.count(self.find)} times"
        return self.base.replace(self.find, self.replace)

    @property
    def text(self) -> str:
        return self.marked.replace(">>", "")

    @property
    def line(self) -> int:
        assert self.marked.count(">>") == 1, f"one >> in {self.replace!r}"
        return self.marked[: self.marked.index(">>")].count("\n") + 1


def edits(base: str, schema: bool, *rows: tuple[str, str, str, str]) -> list[Mistake]:
    return [Mistake(*row, schema=schema, base=base) for row in rows]
