// gnb for Tofino (TNA): the shared body as ingress. Egress clones the finished frame: ingress says in a bridged header
// to which session.
#include "tna.p4i"
#include "gnb.p4i"

parser GnbParser(packet_in pkt, out headers_t hdr, out meta_t meta, out ingress_intrinsic_metadata_t intrinsic) {
#include "gnb_parser.p4i"
}

control GnbControl(inout headers_t hdr, inout meta_t meta, in ingress_intrinsic_metadata_t intrinsic,
                   in ingress_intrinsic_metadata_from_parser_t from_parser,
                   inout ingress_intrinsic_metadata_for_deparser_t to_deparser,
                   inout ingress_intrinsic_metadata_for_tm_t to_tm) {
#if FEATURE != FEATURE_drop
    DECLARE_STEP(last_of_air)
    DECLARE_STEP(udp_end)
    DECLARE_STEP(udp_end_v6)
    DECLARE_STEP(gtpu_end)
    DECLARE_STEP(tag)
    DECLARE_STEP(pdcp_count)
    DECLARE_STEP(rlc_count)
    DECLARE_STEP(rlc_sn18)
    DECLARE_STEP(rlc_sn12)
    DECLARE_STEP(pdcp_sn18)
    DECLARE_STEP(pdcp_sn12)
#include "gnb_downlink.p4i"
#include "gnb_uplink.p4i"
#endif
#include "gnb_control.p4i"
}

control GnbDeparser(packet_out pkt, inout headers_t hdr, in meta_t meta,
                    in ingress_intrinsic_metadata_for_deparser_t to_deparser) {
    Checksum() checksum;
    apply {
        if (meta.summed == 1) {
            hdr.ipv4.checksum = checksum.update(
                {hdr.ipv4.version_ihl, hdr.ipv4.tos, hdr.ipv4.total, hdr.ipv4.identification, hdr.ipv4.fragment,
                 hdr.ipv4.ttl, hdr.ipv4.protocol, hdr.ipv4.src, hdr.ipv4.dst});
        }
        pkt.emit(hdr.bridge);
#include "gnb_deparser.p4i"
    }
}

struct egress_headers_t {
    bridge_t bridge;
}
struct egress_meta_t {
    MirrorId_t session;
}

parser GnbEgressParser(packet_in pkt, out egress_headers_t hdr, out egress_meta_t meta,
                       out egress_intrinsic_metadata_t intrinsic) {
    state start {
        pkt.extract(intrinsic);
        pkt.extract(hdr.bridge);
        transition accept;
    }
}

control GnbEgress(inout egress_headers_t hdr, inout egress_meta_t meta, in egress_intrinsic_metadata_t intrinsic,
                  in egress_intrinsic_metadata_from_parser_t from_parser,
                  inout egress_intrinsic_metadata_for_deparser_t to_deparser,
                  inout egress_intrinsic_metadata_for_output_port_t to_port) {
    apply {
        if (hdr.bridge.session != 0) {
            meta.session = hdr.bridge.session;
            to_deparser.mirror_type = MIRROR_OF_FRAME;
        }
    }
}

control GnbEgressDeparser(packet_out pkt, inout egress_headers_t hdr, in egress_meta_t meta,
                          in egress_intrinsic_metadata_for_deparser_t to_deparser) {
    Mirror() mirror;
    apply {
        if (to_deparser.mirror_type == MIRROR_OF_FRAME) {
            mirror.emit<bridge_t>(meta.session, {0, 0});
        }
    }
}

Pipeline(GnbParser(), GnbControl(), GnbDeparser(), GnbEgressParser(), GnbEgress(), GnbEgressDeparser()) pipe;
Switch(pipe) main;
