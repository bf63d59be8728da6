"""The table of mistakes: what to find in a good file, what to put there, the key and the words of the refusal."""

# One mistake a row.
# ruff: noqa: E501
# fmt: off
from __future__ import annotations

from corpus import GEN, REPLAY, RUN, SMALL, UE, Mistake, edits

WRONG_VALUES = edits(
    RUN,
    True,
    # unknown keys, at every level
    ("log_level:", ">>log_levle:", "log_levle", "unknown key, did you mean 'log_level'?; allowed: file_prefix,"),
    ("hugepages: never", ">>hugepage: never", "memory.hugepage", "did you mean 'hugepages'?"),
    ("    mtu: 1500", "    >>mut: 1500", "ports.n3.mut", "did you mean 'mtu'?"),
    ("    gateway_ipv4: 1", "    >>gw: 1", "n3[0].gw", "unknown key; allowed: port, ipv4,"),
    ("  - port: airb", "  - {port: airb,\n     >>mac: x}", "air[1].mac", "unknown key; allowed: port, peer_mac"),
    ("    features: mat", "    >>feature: mat", "workers.w2.feature", "did you mean 'features'?"),
    ("{kind: busy}", "{kind: busy,\n      >>sleep: 1}", "workers.l.policy.sleep", "unknown key"),
    ("    qfi: 63", "    >>qif: 63", "bearers[0].qif", "did you mean 'qfi'?"),
    ("{dl: false, ul: true}", "{>>down: false}", "bearers[1].sdap.down", "unknown key; allowed: dl, ul"),
    # keys of another function
    ("    shards: 200-255", "    shards: 200-255\n    >>to: [w1]", "workers.w2.to", "does not belong to function gnb"),
    ("    rx: left", "    rx: left\n    >>n3: n3", "workers.l.n3", "does not belong to function l2fwd"),
    ("    to: [w0, w1]", "    to: [w0, w1]\n    >>queue: 0", "workers.d.queue", "does not belong to function dispatch"),
    ("    from: [w0]", "    from: [w0]\n    >>shards: 0-1", "workers.c.shards", "does not belong to function copies"),
    ("{kind: busy}", "{kind: busy,\n >>sleep_us: 1}", "workers.l.policy.sleep_us", "does not belong to policy busy"),
    # wrong types
    ("instance: 63", ">>instance: one", "instance", "is the text 'one'; allowed: an integer from 0 to 63"),
    ("instance: 63", '>>instance: "1"', "instance", "is the text '1'; allowed: an integer"),
    ("instance: 63", ">>instance: 1.5", "instance", "is 1.5; allowed: an integer"),
    ("instance: 63", ">>instance: true", "instance", "is true; allowed: an integer"),
    ("instance: 63", ">>instance:", "instance", "is empty; allowed: an integer"),
    ("instance: 63", ">>instance: [1]", "instance", "is a list; allowed: an integer"),
    ("file_prefix: corpus", ">>file_prefix: 12", "file_prefix", "is 12 (no text unless quoted)"),
    ("file_prefix: corpus", ">>file_prefix: {a: b}", "file_prefix", "is a map"),
    ("    promiscuous: false", "    >>promiscuous: no", "ports.n3.promiscuous", "is the text 'no'; allowed: true or false"),
    ("  - port: airb", "  - >>airb", "air[1]", "is the text 'airb'; allowed: a map with the keys port, peer_mac"),
    ("    from: [w0]", "    >>from: w0", "workers.c.from", "is the text 'w0'; allowed: a list"),
    ("    sdap: true", "    >>sdap: both", "bearers[0].sdap", "is the text 'both'; allowed: true or false"),
    ("    policy: busy", "    >>policy: [busy]", "workers.w2.policy", "is a list"),
    # out of range, not among the words
    ("instance: 63", ">>instance: 64", "instance", "is 64; allowed: an integer from 0 to 63"),
    ("instance: 63", ">>instance: -1", "instance", "is -1; allowed: an integer from 0 to 63"),
    ("instance: 63", ">>instance: 99999999999999999999", "instance", "allowed: an integer from 0 to 63"),
    ("max_bearers: 1024", ">>max_bearers: 100", "max_bearers", "is 100; allowed: an integer from 256 to 67108864"),
    ("max_bearers: 1024", ">>max_bearers: 1000", "max_bearers", "cannot be shared evenly; allowed: a multiple of 256"),
    ("log_level: debug", ">>log_level: loud", "log_level", "'loud' is unknown; allowed: debug, info, warn, error"),
    ("hugepages: never", ">>hugepages: requier", "memory.hugepages", "did you mean 'require'?; allowed: auto,"),
    ("megabytes: 600", ">>megabytes: 8", "memory.megabytes", "is 8; allowed: an integer from 32"),
    ("    rx_descriptors: 512", "    >>rx_descriptors: 0", "ports.n3.rx_descriptors", "is 0"),
    ("    mtu: 1500", "    >>mtu: 20000", "ports.n3.mtu", "is 20000; allowed: an integer from 68 to 9600"),
    ("    core: 2", "    >>core: 1024", "workers.l.core", "is 1024"),
    ("    features: clone", "    >>features: clones", "workers.w0.features", "did you mean 'clone'?; allowed: drop,"),
    ("    function: l2fwd", "    >>function: fwd", "workers.l.function", "allowed: gnb, l2fwd, dispatch, copies"),
    ("    policy: busy", "    >>policy: lazy", "workers.w2.policy", "'lazy' is unknown; allowed: busy, yield"),
    ("sleep_us: 10", ">>sleep_us: 0", "workers.w0.policy.sleep_us", "is 0"),
    ("    shards: 0-99", "    >>shards: all", "workers.w0.shards", "'all' is no range of shards; allowed: a range such as"),
    ("    qfi: 63", "    >>qfi: 64", "bearers[0].qfi", "is 64; allowed: an integer from 0 to 63"),
    ("    rlc: am12", "    >>rlc: am16", "bearers[0].rlc", "allowed: am18, am12, um12, um6, tm"),
    ("    pdcp_sn: 12", "    >>pdcp_sn: 15", "bearers[0].pdcp_sn", "is 15; allowed: 12, 18"),
    ("    poll_pdu: 0", "    >>poll_pdu: 65536", "bearers[0].poll_pdu", "is 65536"),
    ("ul_teid: 4294967295", ">>ul_teid: 4294967296", "bearers[2].ul_teid", "is 4294967296"),
    ("ul_teid: 4294967295", ">>ul_teid: 0", "bearers[2].ul_teid", "is 0; allowed: an integer from 1"),
    ("    shard: 150", "    >>shard: 256", "bearers[1].shard", "is 256"),
    ("  - count: 4", "  - >>count: 0", "bearers[0].count", "is 0"),
    # texts with a form
    ("file_prefix: corpus", ">>file_prefix: ../x", "file_prefix", "'../x' is no name"),
    ("file_prefix: corpus", ">>file_prefix: " + 33 * "x", "file_prefix", "is no name; allowed: 1 to 32 letters"),
    ("control: /run/splitplane/corpus.sock", ">>control: /" + 107 * "x", "control", "has 108 octets"),
    ("  left: {", "  >>le ft: {", "ports.le ft", "'le ft' is no name"),
    ("    ipv4: 10.100.0.1\n", "    >>ipv4: 10.100.0.256\n", "n3[0].ipv4", "allowed: an IPv4 address such as"),
    ("    ipv4: 10.100.0.1\n", "    >>ipv4: fd00::1\n", "n3[0].ipv4", "allowed: an IPv4 address"),
    ("    ipv6: fd00:100::1", "    >>ipv6: 10.0.0.1", "n3[0].ipv6", "allowed: an IPv6 address"),
    ("    peer_mac: 02:", "    >>peer_mac: 2:", "n3[0].peer_mac", "allowed: a MAC address such as"),
    ("    upf: 10.100.0.2", "    >>upf: upf.example", "bearers[0].upf", "'upf.example' is no IP address"),
    # devices
    ("device: net_null0", ">>device: net_nul0", "ports.left.device", "did you mean 'net_null'?"),
    ("device: net_null0", ">>device: eth1", "ports.left.device", "'eth1' is no device known here; allowed: a PCI address"),
    ("device: net_null0", ">>device: net_null0x", "ports.left.device", "is no device known"),
    ("device: net_null0", '>>device: "net_null0,copy"', "ports.left.device", "'copy' is no argument"),
    ('device: "0000:3b:00.1"', '>>device: "0000:3b:00.8"', "ports.n3b.device", "is no device known"),
    ('"eth_vhost0,iface=/run/vf.sock"', "eth_vhost0,\n    >>iface=/run/vf.sock", "ports.airb.iface=/run/vf.sock", "needs quotes"),
    # missing keys
    ("  n3b: {device: \"0000:3b:00.1\"}", "  >>n3b: {}", "ports.n3b.device", "is missing"),
    ("  - port: n3b\n    ipv4: 10.101", "  - >>ipv4: 10.101", "n3[1].port", "is missing"),
    ("  l:\n    function: l2fwd\n", "  >>l:\n", "workers.l.function", "is missing"),
    ("  l:\n    function: l2fwd\n    core: 2\n", "  >>l:\n    function: l2fwd\n", "workers.l.core", "is missing"),
    ("  l:\n    function: l2fwd\n    core: 2\n    rx: left\n", "  >>l:\n    function: l2fwd\n    core: 2\n", "workers.l.rx",
     "is missing"),
    ("  c:\n    function: copies\n    core: 0\n    from: [w0]\n", "  >>c:\n    function: copies\n    core: 0\n", "workers.c.from",
     "is missing"),
    ("    to: [w0, w1]", "    >>to: []", "workers.d.to", "is empty; allowed: the names of gnb workers"),
    ("  - upf: fd00:100::2\n    ul", "  - >>ul", "bearers[1].upf", "is missing"),
    ("ul_teid: 4294967295, ", ">>", "bearers[2].ul_teid", "is missing"),
    ("{kind: yield, empty_rounds: 100,", "{>>empty_rounds: 100,", "workers.w0.policy.kind", "is missing"),
    ("  - port: n3b\n    ipv4: 10.101.0.1\n", "  - >>port: n3b\n    peer_mac: 02:00:00:00:00:03\n", "n3[1]", "has no address; allowed: ipv4, ipv6 or both"),
    ("    ipv4: 10.101.0.1\n", "    ipv4: 10.101.0.1\n    >>gateway_ipv6: fd00::1\n", "n3[1].gateway_ipv6",
     "there is no ipv6 address here"),
)

WRONG_FILES = [
    Mistake(SMALL, ">>", "file", "is empty; allowed: a configuration", base=SMALL),
    Mistake(SMALL, ">># only a comment\n", "file", "is empty", base=SMALL),
    Mistake(SMALL, ">>- a\n- b\n", "file", "is a list; allowed: a map with the keys file_prefix,", base=SMALL),
    Mistake(SMALL, ">>text\n", "file", "is the text 'text'", base=SMALL),
    Mistake("workers:", ">>extra: 1\nworkers:", "extra", "unknown key", base=SMALL),
    Mistake("ports: {p: {device: net_null}}\n", ">>file_prefix: x\n", "ports", "is missing", base=SMALL),
    Mistake("ports: {p: {device: net_null}}\nworkers: {w: {function: l2fwd, core: 0, rx: p, tx: p}}\n",
            ">>ports: {p: {device: net_null}}\n", "workers", "is missing", base=SMALL),
    Mistake("workers: {w: {function: l2fwd, core: 0, rx: p, tx: p}}", ">>workers: {}", "workers", "is empty", base=SMALL),
    Mistake("{p: {device: net_null}}", ">>{}", "ports", "is empty; allowed: at least one port", base=SMALL),
]

WRONG_UE = edits(
    UE,
    True,
    ("ue:\n", "max_bearers: 512>>\nue:\n", "max_bearers", "does not belong in a file for `splitplane ue`"),
    ("  tun: splitue1", "  >>tun: " + 16 * "x", "ue.tun", "is no name"),
    ("  tun: splitue1", "  >>tnu: x", "ue.tnu", "did you mean 'tun'?"),
    ("  tun_mtu: 1450", "  >>tun_mtu: 100", "ue.tun_mtu", "is 100; allowed: an integer from 576"),
    ("  default_route: true", "  >>default_route: 1", "ue.default_route", "is 1; allowed: true or false"),
    ("ue:\n  port: air\n", ">>ue:\n", "ue.port", "is missing"),
    ("  gnb_control: /run/splitplane/corpus.sock", '  >>gnb_control: ""', "ue.gnb_control", "has 0 octets"),
)

BETWEEN_PARTS = edits(
    RUN,
    False,
    # twice the same
    ("instance: 63", "instance: 63\n>>instance: 62", "instance", "appears twice; allowed: once (first on line 4)"),
    ("  right: {", "  >>left: {", "ports.left", "appears twice"),
    ("device: net_null1", ">>device: net_null0", "ports.right.device", "'net_null0' is the name of another port's device"),
    ('"0000:3b:00.1"', '"0000:3b:00.1"}\n  n3c: {>>device: "3B:00.1"', "ports.n3c.device", "is the name of another port's"),
    ("device: net_null1", '>>device: "net_af_packet1,iface=eth1"', "ports.right.device", "each would receive every packet"),
    ("    ipv4: 10.101.0.1", "    >>ipv4: 10.100.0.1", "n3[1].ipv4", "is the address of another n3 entry"),
    ("  - port: airb", "  - >>port: air", "air[1].port", "is used twice"),
    ("  - port: airb", "  - >>port: n3", "air[1].port", "is used twice"),
    ("    to: [w0, w1]", "    to: [w0, >>w0]", "workers.d.to[1]", "appears twice"),
    # references to nothing
    ("  - port: n3b", "  - >>port: n3c", "n3[1].port", "there is no port 'n3c'; allowed: n3, air,"),
    ("  - port: airb", "  - >>port: airc", "air[1].port", "there is no port 'airc'"),
    ("    n3: n3b", "    >>n3: left", "workers.w2.n3", "'left' is no port in the section n3; allowed: n3, n3b"),
    ("    air: airb", "    >>air: nowhere", "workers.w2.air", "'nowhere' is no port in the section air; allowed: air, airb"),
    ("    rx: left", "    >>rx: lfet", "workers.l.rx", "there is no port 'lfet'"),
    ("    to: [w0, w1]", "    to: [w0, w1, >>w9]", "workers.d.to[2]", "'w9' is no gnb worker; allowed: w0, w1, w2"),
    ("    to: [w0, w1]", "    to: [w0, w1, >>l]", "workers.d.to[2]", "'l' is no gnb worker"),
    ("    from: [w0]", "    from: [>>d]", "workers.c.from[0]", "'d' is no gnb worker"),
    # queues
    ("    queue: 1", "    >>queue: 2", "workers.w1.queue", "port n3 has 2 transmit queue(s); allowed: 0 to 1"),
    ("    queue: 1", "    >>queue: 0", "workers.w1.queue", "belongs to worker w0"),
    ("    policy: {kind: busy}\n", "    policy: {kind: busy}\n  m: {function: l2fwd, core: 3, rx: left, tx: right, >>queue: 1}\n",
     "workers.m.queue", "port left has 1 receive queue(s); allowed: 0 to 0"),
    ("device: net_null0", "device: net_null0, >>rx_queues: 2", "ports.left.rx_queues", "no worker reads queue 1"),
    ("    rx_queues: 2", "    >>rx_queues: 1", "ports.n3.rx_queues", "the device has 2 by its arguments"),
    ("    tx_queues: 2\n", "    >>tx_queues: 3\n", "ports.n3.tx_queues", "the device has 2 by its arguments; allowed: 1 to 2"),
    ("  left: {", "  >>spare: {device: net_null7}\n  left: {", "ports.spare", "is used by no worker"),
    # who owns what
    ("    n3: n3b\n    air: airb", "    >>n3: n3\n    air: airb", "workers.w2.n3", "worker d receives from port n3 too"),
    ("    shards: 200-255", "    >>shards: 199-255", "workers.w2.shards", "199-255 overlaps 100-199 of worker w1"),
    ("    shards: 200-255", "    >>shards: 200-256", "workers.w2.shards", "is no range of shards"),
    ("    shards: 200-255", "    >>shards: 255-200", "workers.w2.shards", "is no range of shards"),
    ("    to: [w0, w1]", "    to: [w0, w1, >>w2]", "workers.d.to[2]", "worker w2 has other ports (n3 n3b, air airb)"),
    ("    core: 2", "    >>core: 1", "workers.l.core", "1 is the core of worker w2 too; allowed: a core of its own, or"),
    ("    from: [w0]", "    from: [w0, >>w2]", "workers.c.from[1]", "worker w2 makes no copies; allowed: one with features clone"),
    ("  l:\n", "  c2: {function: copies, core: 0, from: [>>w0]}\n  l:\n", "workers.c2.from[0]", "worker c consumes the copies of w0"),
    # bearers
    ("  - count: 4", "  - >>count: 5", "bearers[0].count", "makes 5 bearers in shard 0; allowed: at most max_bearers / 256 = 4"),
    ("{upf: 10.101.0.2,", "{upf: 10.101.0.2, >>count: 2,", "bearers[2].ul_teid", "runs past the last value"),
    ("  - upf: fd00:100::2\n    ul_teid: 1\n    sdap: {dl: false, ul: true}\n    shard: 150\n",
     "  - upf: 10.102.0.2\n    ul_teid: 1\n    >>count: 2000\n", "bearers[1].count", "makes 2004 bearers; allowed: at most 1024"),
    ("shard: 255}", "shard: 255, >>ue_ipv4: 10.45.0.5}", "bearers[2].ue_ipv4", "holds a UE address that bearers[0] has too"),
    ("{upf: 10.101.0.2, ul_teid: 4294967295,", "{upf: 10.100.0.2, >>ul_teid: 0x1004,", "bearers[2].ul_teid",
     "holds a TEID of the same UPF that bearers[0] has too"),
    ("{upf: 10.101.0.2,", "{>>upf: fd00::9,", "bearers[2].upf", "is IPv6, but n3 port n3b of worker w2 has no such address"),
    ("    ue_ipv4: 10.45.0.2", "    >>ue_ipv4: 255.255.255.254", "bearers[0].ue_ipv4", "runs past the last value"),
    # what does not fit
    ("    mtu: 1500", "    >>mtu: 4000", "ports.n3.mtu", "does not fit memory.mbuf_data_bytes = 2048; allowed: at most 2026"),
    ("megabytes: 600", ">>megabytes: 400", "memory.megabytes", "the buffers of 6 port(s) take 443 MB"),
    ("    gateway_ipv4: 10.100.0.254", "    >>gateway_ipv4: 10.100.0.1", "n3[0].gateway_ipv4", "is our own address"),
    ("    ipv4: 10.101.0.1", "    >>ipv4: 224.0.0.1", "n3[1].ipv4", "is no unicast address"),
    # arguments of devices
    ("device: net_null0", ">>device: net_af_packet9", "ports.left.device", "needs the argument iface="),
    ("device: net_null0", '>>device: "net_af_packet9,ifcae=eth9"', "ports.left.device", "has no argument iface=, but 'ifcae'"),
    ("device: net_null0", ">>device: net_pcap0", "ports.left.device", "has no source or sink; allowed: at least one of rx_pcap"),
    # not YAML
    ("instance: 63", "instance: [63\nmax: >>]]", "file", "is no YAML"),
    ("log_level: debug", ">>\tlog_level: debug", "file", "is no YAML"),
    ("log_level: debug", "log_level: debug\n>>---", "file", "something stands behind the end of the YAML document"),
)

BETWEEN_PARTS_OF_UE = edits(
    UE,
    False,
    ("  port: air\n", "  >>port: aire\n", "ue.port", "there is no port 'aire'; allowed: air"),
    ("{megabytes: 200}\nports:\n", "{megabytes: 400}\nports:\n  >>spare: {device: net_null0}\n", "ports.spare", "is not used; allowed: the port that ue.port names"),
    ("  tun_mtu: 1450", "  >>tun_mtu: 1490", "ue.tun_mtu", "does not fit port air with 17 octets of headers"),
)

BETWEEN_PARTS_OF_SMALL = edits(
    SMALL,
    False,
    ("tx: p}}\n", "tx: p}}\nbearers: [>>{upf: 10.0.0.1, ul_teid: 1}]\n", "bearers[0]", "no gnb worker would own them"),
    ("rx: p, tx: p", "rx: p, tx: p, >>queue: 3", "workers.w.queue", "port p has 1 receive queue(s); allowed: 0 to 0"),
    ("function: l2fwd, core: 0, rx: p, tx: p", "function: dispatch, core: 0, >>n3: p, air: p, to: [w]", "workers.w.n3",
     "'p' is no port in the section n3; allowed: none, the section is empty"),
)

WRONG_TRAFFIC = edits(
    GEN,
    True,
    ("gen:\n", ">>instance: 1\ngen:\n", "instance", "does not belong in a file for `splitplane gen` or `splitplane sink`"),
    ("  rate: 100000", "  >>rat: 100000", "gen.rat", "did you mean 'rate'?"),
    ("  rate: 100000", "  >>rate: 0", "gen.rate", "is 0; allowed: an integer from 1 to 200000000"),
    ("gen:\n  port: n3\n", ">>gen:\n", "gen.port", "is missing"),
    ("direction: downlink", ">>direction: down", "gen.direction", "allowed: uplink, downlink"),
    ("{kind: ramp, to: 200000, over_s: 5}", ">>steady", "gen.arrivals", "allowed: constant, poisson, bursts, ramp"),
    ("{kind: ramp, to: 200000, over_s: 5}", ">>ramp", "gen.arrivals", "lacks its end; allowed: {kind: ramp, to:"),
    ("{kind: ramp, to: 200000,", "{kind: bursts, >>to: 5,", "gen.arrivals.to", "does not belong to arrivals bursts"),
    ("[{bytes: 80, weight: 7}, {bytes: 1400}]", ">>50", "gen.sizes", "is 50; allowed: an integer from 60 to 9500"),
    ("[{bytes: 80, weight: 7}, {bytes: 1400}]", ">>mix", "gen.sizes", "did you mean 'imix'?; allowed: imix"),
    ("{bytes: 80, weight: 7}", "{bytes: 80, >>weight: 0}", "gen.sizes[0].weight", "is 0"),
    ("on_refusal: give_up", ">>on_refusal: drop", "gen.on_refusal", "allowed: retry, give_up"),
    ("{id: 67108865,", "{>>id: 0,", "gen.bearers[1].id", "is 0; allowed: an integer from 1"),
    ("shards: 256\n", ">>shards: 257\n", "gen.bearers[0].shards", "is 257"),
    ("  window: 1024", "  >>window: 1000", "sink.window", "is 1000; allowed: a power of two"),
    ("  flows: 1000", "  >>flows: 0", "sink.flows", "is 0"),
)

BETWEEN_PARTS_OF_TRAFFIC = edits(
    GEN,
    False,
    ("  port: n3\n  core: 1\n  dir", "  >>port: n4\n  core: 1\n  dir", "gen.port", "there is no port 'n4'; allowed: n3, air"),
    ("\n  air: {", "\n  >>spare: {device: net_null0}\n  air: {", "ports.spare", "is not used; allowed: the ports that gen.port"),
    ("{bytes: 1400}", "{bytes: >>1480}", "gen.sizes", "has 1480 octets; allowed: 80 to 1436"),
    ("id: 67108865", ">>id: 0xffffffff, count: 2", "gen.bearers[1].count", "run past the last one"),
    ("    - id: 0x04000000\n      count: 300\n      shards: 256\n      upf: 10.100.0.2\n", "    - >>id: 0x04000000\n", "gen.bearers[0]", "does not say from which UPF"),
    ('  gnb_ipv4: 10.100.0.1\n  gnb_ipv6: fd00:100::1\n  server_ipv4: 10.200.0.1\n  server_ipv6: fd00:200::1\n  gnb_control: /run/splitplane/corpus.sock\n  bearers:\n    - id: 0x04000000\n      count: 300\n      shards: 256\n      upf: 10.100.0.2\n', '  gnb_ipv6: fd00:100::1\n  server_ipv4: 10.200.0.1\n  server_ipv6: fd00:200::1\n  gnb_control: /run/splitplane/corpus.sock\n  bearers:\n    - id: 0x04000000\n      count: 300\n      shards: 256\n      >>upf: 10.100.0.2\n',
     "gen.bearers[0].upf", "the gNB's address of that family is not given"),
    (", ue_ipv6: fd00:46::2", ">>", "gen.bearers[1]", "has no UE address; allowed: with ue_ipv6"),
    ("  flows: 1000", "  >>flows: 300", "sink.flows", "is 300, and gen has 301 bearers"),
    ("gen:\n", "gen:\n  >>replay: x.pcap\n", "gen.replay", "stands beside bearers or gnb_control"),
) + edits(
    REPLAY,
    False,
    ("replay: out/some.pcap,", ">>", "gen", "has no rate; allowed: with rate"),
)

MISTAKES = WRONG_VALUES + WRONG_FILES + WRONG_UE + BETWEEN_PARTS + BETWEEN_PARTS_OF_UE + BETWEEN_PARTS_OF_SMALL + WRONG_TRAFFIC + BETWEEN_PARTS_OF_TRAFFIC
