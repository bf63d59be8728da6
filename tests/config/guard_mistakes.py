"""The mistakes in a file for `splitplane guard`: a part of the table in mistakes.py."""

# One mistake a row.
# ruff: noqa: E501
# fmt: off
from __future__ import annotations

from corpus import GUARD, GUARD_WORKERS, edits

WRONG_GUARD = edits(
    GUARD,
    True,
    ("  core: 2", "  >>cor: 2", "guard.cor", "did you mean 'core'?"),
    ("guard:\n  client: outside\n", ">>guard:\n", "guard.client", "is missing"),
    ("guard:\n  client: outside\n  server: inside\n", ">>guard:\n  client: outside\n", "guard.server", "is missing"),
    ("guard:\n", "workers: {}>>\nguard:\n", "workers", "does not belong in a file for `splitplane guard`"),
    ("guard:\n", "bearers: []>>\nguard:\n", "bearers", "does not belong in a file for `splitplane guard`"),
    ("  core: 2", "  >>core: 1024", "guard.core", "is 1024; allowed: an integer from 0 to 1023"),
    ("latency_us: 20", ">>sleep_us: 20", "guard.policy.sleep_us", "does not belong to policy budget"),
    ("  schedule: fifo\n", ">>", "guard.fifo_priority", "is not scheduled so; allowed: with schedule: fifo"),
    ("  slow_clock: 0.05", "  >>slow_clock: 0.01", "guard.slow_clock", "is 0.01; allowed: a number from 0.05 to 1"),
    ("  key_seconds: 10", "  >>key_seconds: 9", "guard.key_seconds", "is 9; allowed: an integer from 10 to 3600"),
    ("  replies_per_second: 1000000000", "  >>replies_per_second: 0", "guard.replies_per_second", "is 0; allowed: an integer from 1"),
    ("  unproven_per_second: 0", "  >>unproven_per_second: -1", "guard.unproven_per_second", "is -1"),
    ("  state_file: /run/splitplane/corpus-guard.state", "  >>state_file: guard.state", "guard.state_file", "allowed: the path of a directory from / on"),
    ("{entries: 64,", "{>>entries: 63,", "guard.sources.entries", "is 63"),
    ("{entries: 64,", "{>>entries: 96,", "guard.sources.entries", "is 96; allowed: a power of two"),
    ("cookie_seconds: 1,", ">>cookie_seconds: 0,", "guard.sources.cookie_seconds", "is 0; allowed: an integer from 1 to 65535"),
    ("flows_each: 65535", ">>flow_each: 65535", "guard.sources.flow_each", "did you mean 'flows_each'?"),
    ("{entries: 67108864,", "{>>entries: 134217728,", "guard.flows.entries", "is 134217728"),
    ("closed_seconds: 1}", ">>close_seconds: 1}", "guard.flows.close_seconds", "did you mean 'closed_seconds'?"),
    ("    - name: web\n", "    - >>names: web\n", "guard.servers[0].names", "did you mean 'name'?"),
    ("{name: mail,", ">>{", "guard.servers[1].name", "is missing"),
    ("{name: mail, address: \"fd00:70::/64\",", ">>{name: mail,", "guard.servers[1].address", "is missing"),
    ("{name: mail,", "{>>name: m ail,", "guard.servers[1].name", "is no name; allowed: 1 to 20 letters"),
    ("      address: 10.70.0.0/24", "      >>address: 10.70.0.x/24", "guard.servers[0].address", "is no address; allowed: an address such as 10.0.0.1"),
    ("      ports: 8000-8099", "      >>ports: 8000:8099", "guard.servers[0].ports", "is no port; allowed: a TCP port such as 443"),
    ("      ports: 8000-8099", "      >>ports: 65536", "guard.servers[0].ports", "is 65536; allowed: an integer from 0 to 65535"),
    ("      mode: proxy", "      >>mode: prxoy", "guard.servers[0].mode", "did you mean 'proxy'?; allowed: bypass, observe, auth, proxy"),
    ("      arm: always", "      >>arm: never", "guard.servers[0].arm", "'never' is unknown; allowed: auto, always"),
    ("      arm_half_open_percent: 100", "      >>arm_half_open_percent: 101", "guard.servers[0].arm_half_open_percent", "is 101; allowed: an integer from 1 to 100"),
    ("      mss: 536", "      >>mss: 63", "guard.servers[0].mss", "is 63; allowed: an integer from 64 to 65495"),
    ("      window_scale: 14", "      >>window_scale: 15", "guard.servers[0].window_scale", "is 15; allowed: an integer from 0 to 14"),
    ("{listen: \"127.0.0.1:9469\"}", "{listen: \"127.0.0.1\"}>>", "metrics.listen", "is no address with a port"),
) + edits(
    GUARD_WORKERS,
    True,
    ("  workers: [", "  core: 2\n  >>workers: [", "guard.workers", "stands beside core; allowed: one of the two"),
    ("{core: 2, policy: busy}", ">>{policy: busy}", "guard.workers[0].core", "is missing"),
    ("workers: [{core: 2, policy: busy}, {core: 3, schedule: fifo, fifo_priority: 9}]", ">>workers: []", "guard.workers", "has 0 workers; allowed: 1 to 16"),
    ("schedule: fifo, fifo_priority", ">>fifo_priority", "guard.workers[1].fifo_priority", "is not scheduled so"),
)

BETWEEN_PARTS_OF_GUARD = edits(
    GUARD,
    False,
    ("  client: outside\n", "  >>client: ouside\n", "guard.client", "there is no port 'ouside'; allowed: outside, inside"),
    ("  server: inside\n", "  >>server: outside\n", "guard.server", "port outside is named twice"),
    ("  inside: {", "  >>spare: {device: net_null0}\n  inside: {", "ports.spare", "is not used; allowed: the ports that guard.client and guard.server name"),
    ("00.1\"}", "00.1\", >>mtu: 1400}", "ports.inside.mtu", "is 1400, and that of port outside is 1500; allowed: the same"),
    ("00.1\"}", "00.1\", >>rx_queues: 2}", "ports.inside.rx_queues", "is 2, and the guard has 1 worker; allowed: 1"),
    ("      address: 10.70.0.0/24", "      >>address: 10.70.0.1/24", "guard.servers[0].address", "has bits behind its prefix; allowed: 10.70.0.0/24"),
    ("      address: 10.70.0.0/24", "      >>address: 224.0.0.0/24", "guard.servers[0].address", "is no address of a host"),
    ("      ports: 8000-8099", "      >>ports: 8099-8000", "guard.servers[0].ports", "is no port"),
    ("{name: all,", "{>>name: web,", "guard.servers[2].name", "'web' is another server's; allowed: a name of its own"),
    ("{name: all, address: 0.0.0.0/0,", "{name: all, >>address: 10.70.0.0/24, ports: 8000-8099,", "guard.servers[2].address", "is server web already; allowed: each address and ports once"),
    ("      disarm_syns_per_second: 1", "      >>disarm_syns_per_second: 2", "guard.servers[0].disarm_syns_per_second", "is 2, and arm_syns_per_second is 2; allowed: less than that"),
    ("      always_syns_per_second: 3", "      >>always_syns_per_second: 1", "guard.servers[0].always_syns_per_second", "is 1, and arm_syns_per_second is 2; allowed: at least that"),
    ("      max_hold_seconds: 86400", "      >>max_hold_seconds: 3599", "guard.servers[0].max_hold_seconds", "is 3599, and hold_seconds is 3600; allowed: at least that"),
    ("{listen: \"127.0.0.1:9469\"}", "{listen: \"127.0.0.1:9469\", bearers: 1}>>", "metrics", "has bearers, which a guard does not have"),
    ("{megabytes: 600}", "{>>megabytes: 64}", "memory.megabytes", "the buffers of 2 port(s) take"),
) + edits(
    GUARD_WORKERS,
    False,
    ("{core: 3,", "{>>core: 2,", "guard.workers[1].core", "is core 2 again; allowed: each core once"),
)
