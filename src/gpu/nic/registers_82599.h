// The registers of the Intel 82599 that the control plane writes and the model answers: offsets from BAR 0 and bits.
// Sections are those of the Intel 82599 10 GbE Controller Datasheet; 8.2.2 is the summary of all registers.
#pragma once

#include <cstdint>

namespace splitplane::gpu::reg {

// A register that exists several times, at a fixed distance in octets.
struct Row {
  std::uint32_t first = 0, stride = 4;
  [[nodiscard]] constexpr std::uint32_t operator()(std::uint32_t n) const { return first + stride * n; }
};

inline constexpr std::uint32_t kBarBytes = 0x20000;      // 8.1: 128 KiB of registers, the flash behind them
inline constexpr std::uint32_t kQueues = 128;            // 1.3: of each direction; this driver uses the first 64
inline constexpr std::uint32_t kRssQueues = 16;          // 8.2.3.7.15: an entry of RETA has 4 bits
inline constexpr std::uint32_t kStatisticsSets = 16;     // 8.2.3.23.71: counter sets that queues are mapped to
inline constexpr std::uint32_t kPacketBuffers = 8;       // 8.2.3.8.9
inline constexpr std::uint32_t kMostDescriptors = 8192;  // 8.2.3.8.3: lengths up to 128 KiB are validated

// General control, 8.2.3.1
inline constexpr std::uint32_t kCtrl = 0x00000;               // 8.2.3.1.1
inline constexpr std::uint32_t kCtrlMasterDisable = 1U << 2;  // no new requests as bus master
inline constexpr std::uint32_t kCtrlLinkReset = 1U << 3;
inline constexpr std::uint32_t kCtrlReset = 1U << 26;           // clears itself
inline constexpr std::uint32_t kStatus = 0x00008;               // 8.2.3.1.2
inline constexpr std::uint32_t kStatusMasterEnable = 1U << 19;  // requests are, or may be, under way
inline constexpr std::uint32_t kCtrlExt = 0x00018;              // 8.2.3.1.3
inline constexpr std::uint32_t kCtrlExtNoSnoopDisable = 1U << 16;
inline constexpr std::uint32_t kEsdp = 0x00020;             // 8.2.3.1.4: pins, their values at bits 7:0
inline constexpr std::uint32_t kEsdpModuleThere = 1U << 2;  // SDP2 of a card with an SFP+ slot: sfp_slot.h
inline constexpr std::uint32_t kEsdpLaserOff = 1U << 3;     // SDP3 of one

// EEPROM and semaphores, 8.2.3.2, 8.2.3.4, 10.5.4
inline constexpr std::uint32_t kEec = 0x10010;  // 8.2.3.2.1
inline constexpr std::uint32_t kEecPresent = 1U << 8;
inline constexpr std::uint32_t kEecAutoReadDone = 1U << 9;
inline constexpr std::uint32_t kSwsm = 0x10140;         // 8.2.3.4.9
inline constexpr std::uint32_t kSwsmSmbi = 1U << 0;     // between drivers: a read that finds 0 takes it
inline constexpr std::uint32_t kSwsmSwesmbi = 1U << 1;  // against the firmware: taken when it reads back as 1
inline constexpr std::uint32_t kFwsm = 0x10148;         // 8.2.3.4.10
inline constexpr std::uint32_t kFwsmErrorMask = 0x3FU << 19;
inline constexpr std::uint32_t kSwFwSync = 0x10160;  // 8.2.3.4.11: software's bits 4:0, the firmware's 9:5
inline constexpr std::uint32_t kSwFwSyncEeprom = 1U << 0;
inline constexpr std::uint32_t kSwFwSyncMacCsr = 1U << 3;
inline constexpr std::uint32_t kSwFwSyncSoftware = 0x1F;
inline constexpr unsigned kSwFwSyncFirmwareShift = 5;
inline constexpr std::uint32_t kGcrExt = 0x11050;  // 8.2.3.4.12
inline constexpr std::uint32_t kGcrExtBuffersClear = 1U << 30;

// Interrupts, 8.2.3.5
inline constexpr std::uint32_t kEicr = 0x00800;  // 8.2.3.5.1: clear on read
inline constexpr std::uint32_t kEims = 0x00880;  // 8.2.3.5.3
inline constexpr std::uint32_t kEimc = 0x00888;  // 8.2.3.5.4
inline constexpr std::uint32_t kEicrBits = 0x7FFFFFFF;
inline constexpr Row eims_ex{0x00AA0, 4};  // n = 0, 1: vectors 0..63
inline constexpr Row eimc_ex{0x00AB0, 4};  // 8.2.3.5.9

// Flow control, 8.2.3.3
inline constexpr Row fcttv{0x03200, 4};           // 8.2.3.3.2, n < 4
inline constexpr Row fcrtl{0x03220, 4};           // 8.2.3.3.3, n < 8
inline constexpr Row fcrth{0x03260, 4};           // 8.2.3.3.4: bytes, bits 18:5
inline constexpr std::uint32_t kFcrtv = 0x032A0;  // 8.2.3.3.5
inline constexpr std::uint32_t kFccfg = 0x03D00;  // 8.2.3.3.7

// Receive filters, 8.2.3.7
inline constexpr std::uint32_t kFctrl = 0x05080;  // 8.2.3.7.1; written while RXCTRL.RXEN is 0
inline constexpr std::uint32_t kFctrlMulticastPromiscuous = 1U << 8;
inline constexpr std::uint32_t kFctrlUnicastPromiscuous = 1U << 9;
inline constexpr std::uint32_t kFctrlBroadcastAccept = 1U << 10;
inline constexpr std::uint32_t kRxcsum = 0x05000;       // 8.2.3.7.5
inline constexpr std::uint32_t kRxcsumPcsd = 1U << 13;  // the hash, not a checksum, in the descriptor
inline constexpr std::uint32_t kRfctl = 0x05008;        // 8.2.3.7.6
inline constexpr std::uint32_t kRfctlRscDisable = 1U << 5;
inline constexpr Row mta{0x05200, 4};        // 8.2.3.7.7, n < 128
inline constexpr Row ral{0x0A200, 8};        // 8.2.3.7.8, n < 128
inline constexpr Row rah{0x0A204, 8};        // 8.2.3.7.9
inline constexpr Row ral_alias{0x05400, 8};  // the same, n < 16
inline constexpr std::uint32_t kRahValid = 1U << 31;
inline constexpr Row mpsar{0x0A600, 4};          // 8.2.3.7.10, n < 256
inline constexpr std::uint32_t kMrqc = 0x05818;  // 8.2.3.7.12
inline constexpr std::uint32_t kMrqcRss = 1;     // MRQE 0001b: RSS of 16 queues
inline constexpr std::uint32_t kMrqcRssMask = 0xF;
inline constexpr std::uint32_t kMrqcTcpIpv4 = 1U << 16;
inline constexpr std::uint32_t kMrqcIpv4 = 1U << 17;
inline constexpr std::uint32_t kMrqcIpv6 = 1U << 20;
inline constexpr std::uint32_t kMrqcTcpIpv6 = 1U << 21;
inline constexpr std::uint32_t kMrqcUdpIpv4 = 1U << 22;
inline constexpr std::uint32_t kMrqcUdpIpv6 = 1U << 23;
inline constexpr Row rssrk{0x05C80, 4};  // 8.2.3.7.14, n < 10: 40 octets
inline constexpr Row reta{0x05C00, 4};   // 8.2.3.7.15, n < 32: 4 entries each
// 5-tuple filters, 7.1.2.5 and 8.2.3.7.16 to 8.2.3.7.19, n < 128: the way to more than 16 queues
inline constexpr Row saqf{0x0E000, 4};   // source address
inline constexpr Row daqf{0x0E200, 4};   // destination address
inline constexpr Row sdpqf{0x0E400, 4};  // source port, destination port << 16
inline constexpr Row ftqf{0x0E600, 4};
inline constexpr Row l34timir{0x0E800, 4};
inline constexpr std::uint32_t kFiveTupleFilters = 128;
inline constexpr std::uint32_t kFtqfTcp = 0, kFtqfUdp = 1;      // bits 1:0
inline constexpr unsigned kFtqfPriorityShift = 2;               // bits 4:2, 1 lowest .. 7 highest
inline constexpr std::uint32_t kFtqfSourcePortMask = 1U << 27;  // bits 29:25: what is not compared
inline constexpr std::uint32_t kFtqfPoolMask = 1U << 30;        // do not compare the pool
inline constexpr std::uint32_t kFtqfEnable = 1U << 31;
inline constexpr unsigned kL34QueueShift = 21;                  // bits 27:21 of L34TIMIR
inline constexpr std::uint32_t kL34ReservedMask = 0x7FU << 13;  // "must be 1000000b"
inline constexpr std::uint32_t kL34Reserved = 1U << 19;
inline constexpr Row pfuta{0x0F400, 4};    // 8.2.3.27.17, n < 128
inline constexpr Row pfvlvf{0x0F100, 4};   // 8.2.3.27.15, n < 64
inline constexpr Row pfvlvfb{0x0F200, 4};  // 8.2.3.27.16, n < 128

// Receive DMA, 8.2.3.8; queues 0..63
inline constexpr Row receive_queue{0x01000, 0x40};
inline constexpr Row rdbal{0x01000, 0x40};                             // 8.2.3.8.1
inline constexpr Row rdbah{0x01004, 0x40};                             // 8.2.3.8.2
inline constexpr Row rdlen{0x01008, 0x40};                             // 8.2.3.8.3
inline constexpr Row dca_rxctrl{0x0100C, 0x40};                        // 8.2.3.11.1
inline constexpr Row rdh{0x01010, 0x40};                               // 8.2.3.8.4
inline constexpr Row srrctl{0x01014, 0x40};                            // 8.2.3.8.7
inline constexpr Row rdt{0x01018, 0x40};                               // 8.2.3.8.5
inline constexpr Row rxdctl{0x01028, 0x40};                            // 8.2.3.8.6
inline constexpr std::uint32_t kQueueEnable = 1U << 25;                // of RXDCTL and TXDCTL
inline constexpr std::uint32_t kDcaRxctrlReserved12 = 1U << 12;        // 4.6.7: set after reset, must be cleared
inline constexpr std::uint32_t kDcaRxctrlWriteBackRelaxed = 1U << 11;  // write-back with relaxed ordering
inline constexpr std::uint32_t kDcaRxctrlDataRelaxed = 1U << 13;       // payload with relaxed ordering
inline constexpr std::uint32_t kSrrctlPacketKib = 0x1F;                // bits 4:0, buffer size in KiB
inline constexpr std::uint32_t kSrrctlAdvancedOneBuffer = 1U << 25;    // DESCTYPE 001b
inline constexpr std::uint32_t kSrrctlTypeMask = 7U << 25;
inline constexpr std::uint32_t kSrrctlDropEnable = 1U << 28;
inline constexpr std::uint32_t kRdrxctl = 0x02F00;  // 8.2.3.8.8
inline constexpr std::uint32_t kRdrxctlCrcStrip = 1U << 1;
inline constexpr std::uint32_t kRdrxctlDmaInitDone = 1U << 3;
inline constexpr std::uint32_t kRdrxctlRscFirstSizeMask = 0x1FU << 17;       // to be 0
inline constexpr std::uint32_t kRdrxctlMustBeSet = (1U << 25) | (1U << 26);  // RSCACKC, FCOE_WRFIX
inline constexpr Row rxpbsize{0x03C00, 4};                                   // 8.2.3.8.9: KiB at bits 19:10
inline constexpr unsigned kBufferSizeShift = 10;
inline constexpr std::uint32_t kRxctrl = 0x03000;  // 8.2.3.8.10
inline constexpr std::uint32_t kRxctrlEnable = 1U << 0;
inline constexpr std::uint32_t kSecrxctrl = 0x08D00;  // 8.2.3.12.5
inline constexpr std::uint32_t kSecrxctrlDisable = 1U << 1;
inline constexpr std::uint32_t kSecrxstat = 0x08D04;  // 8.2.3.12.6
inline constexpr std::uint32_t kSecrxstatReady = 1U << 0;

// Transmit DMA, 8.2.3.9; queues 0..127
inline constexpr Row transmit_queue{0x06000, 0x40};
inline constexpr Row tdbal{0x06000, 0x40};       // 8.2.3.9.5
inline constexpr Row tdbah{0x06004, 0x40};       // 8.2.3.9.6
inline constexpr Row tdlen{0x06008, 0x40};       // 8.2.3.9.7
inline constexpr Row dca_txctrl{0x0600C, 0x40};  // 8.2.3.11.2
inline constexpr Row tdh{0x06010, 0x40};         // 8.2.3.9.8
inline constexpr Row tdt{0x06018, 0x40};         // 8.2.3.9.9
inline constexpr Row txdctl{0x06028, 0x40};      // 8.2.3.9.10
inline constexpr Row tdwbal{0x06038, 0x40};      // 8.2.3.9.11
inline constexpr std::uint32_t kDcaTxctrlWriteBackRelaxed = 1U << 11;
inline constexpr unsigned kTxdctlHostShift = 8, kTxdctlWriteBackShift = 16;  // PTHRESH 6:0, HTHRESH 14:8, WTHRESH 22:16
inline constexpr std::uint32_t kDmatxctl = 0x04A80;                          // 8.2.3.9.2
inline constexpr std::uint32_t kDmatxctlEnable = 1U << 0;
inline constexpr std::uint32_t kDtxmxszrq = 0x08100;  // 8.2.3.9.1
inline constexpr std::uint32_t kMtqc = 0x08120;       // 8.2.3.9.15
inline constexpr Row txpbsize{0x0CC00, 4};            // 8.2.3.9.13
inline constexpr Row txpbthresh{0x04950, 4};          // 8.2.3.9.16: KiB
inline constexpr std::uint32_t kRttdcs = 0x04900;     // 8.2.3.10.2
inline constexpr std::uint32_t kRttdcsArbiterDisable = 1U << 6;

// MAC, 8.2.3.22
inline constexpr std::uint32_t kHlreg0 = 0x04240;  // 8.2.3.22.8
inline constexpr std::uint32_t kHlreg0TxCrc = 1U << 0;
inline constexpr std::uint32_t kHlreg0RxCrcStrip = 1U << 1;
inline constexpr std::uint32_t kHlreg0Jumbo = 1U << 2;
inline constexpr std::uint32_t kHlreg0TxPad = 1U << 10;
inline constexpr std::uint32_t kHlreg0Loopback = 1U << 15;
inline constexpr std::uint32_t kMaxfrs = 0x04268;  // 8.2.3.22.13: longest frame at bits 31:16, with the CRC
inline constexpr std::uint32_t kAutoc = 0x042A0;   // 8.2.3.22.19
inline constexpr std::uint32_t kAutocRestart = 1U << 12;
inline constexpr unsigned kAutocModeShift = 13;  // LMS, bits 15:13
inline constexpr std::uint32_t kAutocModeMask = 7U << kAutocModeShift;
inline constexpr std::uint32_t kAutocMode10gSerial = 3U << kAutocModeShift;  // without auto-negotiation
inline constexpr std::uint32_t kAutoc2 = 0x042A8;                            // 8.2.3.22.22
inline constexpr std::uint32_t kAutoc2SerialMask = 3U << 16;                 // 10G_PMA_PMD_Serial, bits 17:16
inline constexpr std::uint32_t kAutoc2SerialSfi = 2U << 16;                  // 0: KR
inline constexpr std::uint32_t kLinks = 0x042A4;                             // 8.2.3.22.20
inline constexpr std::uint32_t kLinksUp = 1U << 30;
inline constexpr unsigned kLinksSpeedShift = 28;  // 1: 100 Mbit/s, 2: 1 Gbit/s, 3: 10 Gbit/s

// Statistics, 8.2.3.23: all clear on read, counted with the frame's CRC
inline constexpr Row rxmpc{0x03FA0, 4};           // missed: packet buffer n was full
inline constexpr std::uint32_t kPrc64 = 0x0405C;  // received, and by size: six registers
inline constexpr std::uint32_t kGprc = 0x04074, kBprc = 0x04078, kMprc = 0x0407C, kGptc = 0x04080;
inline constexpr std::uint32_t kGorcl = 0x04088, kGorch = 0x0408C, kGotcl = 0x04090, kGotch = 0x04094;
inline constexpr std::uint32_t kRuc = 0x040A4, kRoc = 0x040AC;  // too short, too long
inline constexpr std::uint32_t kTorl = 0x040C0, kTorh = 0x040C4, kTpr = 0x040D0, kTpt = 0x040D4;
inline constexpr std::uint32_t kPtc64 = 0x040D8;  // transmitted, by size: six registers
inline constexpr std::uint32_t kMptc = 0x040F0, kBptc = 0x040F4;
inline constexpr std::uint32_t kSizeClasses = 6;  // 64, 65-127, 128-255, 256-511, 512-1023, 1024-
inline constexpr Row rqsmr{0x02300, 4};           // 8.2.3.23.71, n < 32: 4 queues each
inline constexpr Row tqsm{0x08600, 4};            // 8.2.3.23.73, n < 32
inline constexpr Row qprc{0x01030, 0x40};
inline constexpr Row qbrcl{0x01034, 0x40};
inline constexpr Row qbrch{0x01038, 0x40};
inline constexpr Row qprdc{0x01430, 0x40};  // 8.2.3.23.75: dropped, no descriptor
inline constexpr Row qptc{0x06030, 0x40};
inline constexpr Row qbtcl{0x08700, 8};
inline constexpr Row qbtch{0x08704, 8};

}  // namespace splitplane::gpu::reg
