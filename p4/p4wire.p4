// p4wire: PF to VF and VF to PF by a table of input ports, frames unchanged; `spread` deals them out over N VFs in turn.
#include "psa.p4i"
#include "headers.p4i"
#include "intrinsic.p4i"
#include "punt.p4i"

#define FIRST_VF 2  // ports 0 and 1 are N3 and the air

struct headers_t {
    intrinsic_t intrinsic;
}
struct meta_t {
    bit<32> from;
    bit<32> vf;
    bit<32> n_vf;
    bit<32> port;
}

parser P4wireParser(packet_in pkt, out headers_t hdr, inout meta_t meta, in psa_ingress_parser_input_metadata_t istd,
                    in empty_t resubmitted, in empty_t recirculated) {
    state start {
        pkt.extract(hdr.intrinsic);
        transition accept;
    }
}

control P4wireControl(inout headers_t hdr, inout meta_t meta, in psa_ingress_input_metadata_t istd,
                      inout psa_ingress_output_metadata_t ostd) {
    Register<bit<32>, bit<32>>(1, 0) rr;    // the VF whose turn it is
    Register<bit<32>, bit<32>>(1, 1) n_vf;  // N
    Counter<bit<64>, bit<32>>(8, PSA_CounterType_t.PACKETS) drops;

    action to_port(bit<32> port) {
        send_to_port(ostd, (PortId_t)port);
    }
    // The values only: where they are used in an action, the compiler would read the registers once more.
    action spread() {
        meta.vf = rr.read(0);
        meta.n_vf = n_vf.read(0);
    }
    action no_port() {
        drops.count(DROP_NO_PORT);
        ingress_drop(ostd);
    }
    table wire {
        key = { meta.from : exact; }
        actions = { to_port; spread; no_port; }
        default_action = no_port;
        size = 128;
    }
    apply {
        meta.from = (bit<32>)hdr.intrinsic.port;
        meta.n_vf = 0;
        wire.apply();
        if (meta.n_vf != 0) {
            meta.port = meta.vf + FIRST_VF;
            send_to_port(ostd, (PortId_t)meta.port);
            meta.vf = meta.vf + 1;
            if (meta.vf >= meta.n_vf) { meta.vf = 0; }
            rr.write(0, meta.vf);
        }
    }
}

control P4wireDeparser(packet_out pkt, out empty_t clone, out empty_t resubmitted, out empty_t normal,
                       inout headers_t hdr, in meta_t meta, in psa_ingress_output_metadata_t ostd) {
    apply {
    }
}

PSA_PROGRAM(P4wire, headers_t)
