// gnb for v1model: the shared body in the blocks of BMv2's simple_switch. A clone is taken in egress, so that it is of
// the frame as it goes out.
#include "v1model.p4i"
#include "gnb.p4i"

parser GnbParser(packet_in pkt, out headers_t hdr, inout meta_t meta, inout standard_metadata_t standard) {
#include "gnb_parser.p4i"
}

control GnbVerify(inout headers_t hdr, inout meta_t meta) {
    apply {
    }
}

control GnbControl(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t standard) {
#if FEATURE != FEATURE_drop
#include "gnb_downlink.p4i"
#include "gnb_uplink.p4i"
#endif
#include "gnb_control.p4i"
}

control GnbEgress(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t standard) {
    apply {
        if (standard.instance_type == 0 && meta.session != 0) {
            clone(CloneType.E2E, (bit<32>)meta.session);
        }
    }
}

control GnbCompute(inout headers_t hdr, inout meta_t meta) {
    apply {
    }
}

control GnbDeparser(packet_out pkt, in headers_t hdr) {
    apply {
#include "gnb_deparser.p4i"
    }
}

V1Switch(GnbParser(), GnbVerify(), GnbControl(), GnbEgress(), GnbCompute(), GnbDeparser()) main;
