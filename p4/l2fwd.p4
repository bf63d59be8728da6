// l2fwd: swaps the MAC addresses and sends the frame out of the port that it came from; the least that a card can do.
#include "psa.p4i"
#include "headers.p4i"
#include "intrinsic.p4i"

struct headers_t {
    intrinsic_t intrinsic;
    ethernet_t ethernet;
}
struct meta_t {
    bit<48> dst;
    bit<32> port;
}

parser L2fwdParser(packet_in pkt, out headers_t hdr, inout meta_t meta, in psa_ingress_parser_input_metadata_t istd,
                   in empty_t resubmitted, in empty_t recirculated) {
    state start {
        pkt.extract(hdr.intrinsic);
        pkt.extract(hdr.ethernet);
        transition accept;
    }
}

control L2fwdControl(inout headers_t hdr, inout meta_t meta, in psa_ingress_input_metadata_t istd,
                     inout psa_ingress_output_metadata_t ostd) {
    apply {
        meta.dst = hdr.ethernet.dst;
        hdr.ethernet.dst = hdr.ethernet.src;
        hdr.ethernet.src = meta.dst;
        meta.port = (bit<32>)hdr.intrinsic.port;
        send_to_port(ostd, (PortId_t)meta.port);
    }
}

control L2fwdDeparser(packet_out pkt, out empty_t clone, out empty_t resubmitted, out empty_t normal,
                      inout headers_t hdr, in meta_t meta, in psa_ingress_output_metadata_t ostd) {
    apply {
        pkt.emit(hdr.ethernet);
    }
}

PSA_PROGRAM(L2fwd, headers_t)
