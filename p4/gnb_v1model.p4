// gnb for v1model: the shared body in the blocks of BMv2's simple_switch. The frame carries nic_t in front, as the
// software NIC's input port would put it; a clone is taken in egress, so that it is of the frame as it goes out.
#include "v1model.p4i"
#include "gnb.p4i"

// Here the deparser emits what is valid, so what the frame no longer has is taken off the list.
#define FORGET_DOWNLINK                 \
    hdr.vlan.setInvalid();              \
    hdr.n3.setInvalid();                \
    hdr.optional.setInvalid();          \
    hdr.container.setInvalid();         \
    hdr.airhdr.setInvalid();
#define FORGET_ETHERNET hdr.ethernet.setInvalid();
#define FORGET_UPLINK                   \
    hdr.ethernet.setInvalid();          \
    hdr.airhdr.setInvalid();            \
    hdr.pdu32.setInvalid();             \
    hdr.pdu40.setInvalid();             \
    hdr.pdu48.setInvalid();             \
    hdr.pdu56.setInvalid();

parser GnbParser(packet_in pkt, out headers_t hdr, inout meta_t meta, inout standard_metadata_t standard) {
#include "gnb_parser.p4i"
}

control GnbVerify(inout headers_t hdr, inout meta_t meta) {
    apply {
    }
}

control GnbControl(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t standard) {
#include "gnb_downlink.p4i"
#include "gnb_uplink.p4i"
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

#include "gnb_deparser.p4i"
control GnbDeparser(packet_out pkt, in headers_t hdr) {
    apply {
        EMIT_RECEIVED
        EMIT_AIR
        pkt.emit(hdr.uplink);
    }
}

V1Switch(GnbParser(), GnbVerify(), GnbControl(), GnbEgress(), GnbCompute(), GnbDeparser()) main;
