// gnb for XDP (PSA, p4c-ebpf): the shared body as ingress.
#include "psa_ebpf.p4i"
#include "gnb.p4i"

struct empty_t {
}

parser GnbParser(packet_in pkt, out headers_t hdr, inout meta_t meta, in psa_ingress_parser_input_metadata_t istd,
                 in empty_t resubmitted, in empty_t recirculated) {
#include "gnb_parser.p4i"
}

control GnbControl(inout headers_t hdr, inout meta_t meta, in psa_ingress_input_metadata_t istd,
                   inout psa_ingress_output_metadata_t ostd) {
#if FEATURE != FEATURE_drop
#include "gnb_downlink.p4i"
#include "gnb_uplink.p4i"
#endif
#include "gnb_control.p4i"
}

control GnbDeparser(packet_out pkt, out empty_t clone, out empty_t resubmitted, out empty_t normal,
                    inout headers_t hdr, in meta_t meta, in psa_ingress_output_metadata_t ostd) {
    apply {
#include "gnb_deparser.p4i"
    }
}

parser GnbEgressParser(packet_in pkt, out headers_t hdr, inout meta_t meta,
                       in psa_egress_parser_input_metadata_t istd, in empty_t normal, in empty_t i2e, in empty_t e2e) {
    state start {
        transition accept;
    }
}
control GnbEgress(inout headers_t hdr, inout meta_t meta, in psa_egress_input_metadata_t istd,
                  inout psa_egress_output_metadata_t ostd) {
    apply {
    }
}
control GnbEgressDeparser(packet_out pkt, out empty_t e2e, out empty_t recirculated, inout headers_t hdr,
                          in meta_t meta, in psa_egress_output_metadata_t ostd,
                          in psa_egress_deparser_input_metadata_t edstd) {
    apply {
    }
}

IngressPipeline(GnbParser(), GnbControl(), GnbDeparser()) ingress;
EgressPipeline(GnbEgressParser(), GnbEgress(), GnbEgressDeparser()) egress;
PSA_Switch(ingress, PacketReplicationEngine(), egress, BufferingQueueingEngine()) main;
