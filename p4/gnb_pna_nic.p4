// gnb for BMv2's pna_nic: the shared body in the blocks of PNA.
#include "pna_nic.p4i"
#include "gnb.p4i"

parser GnbParser(packet_in pkt, out headers_t hdr, inout meta_t meta, in pna_main_parser_input_metadata_t istd) {
#include "gnb_parser.p4i"
}

control GnbControl(inout headers_t hdr, inout meta_t meta, in pna_main_input_metadata_t istd,
                   inout pna_main_output_metadata_t ostd) {
#if FEATURE != FEATURE_drop
#include "gnb_downlink.p4i"
#include "gnb_uplink.p4i"
#endif
#include "gnb_control.p4i"
}

control GnbDeparser(packet_out pkt, inout headers_t hdr, in meta_t meta, in pna_main_output_metadata_t ostd) {
    apply {
#include "gnb_deparser.p4i"
    }
}

PNA_NIC(GnbParser(), GnbControl(), GnbDeparser()) main;
