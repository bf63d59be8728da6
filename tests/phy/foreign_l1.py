"""A layer 1 that is not ours: transport blocks through py3gpp's CRC, LDPC, rate matching and PDSCH, and back.

py3gpp 0.6.0 has one layer, and soft demodulation up to 16QAM. For 64QAM and 256QAM the bits come from the distances to
py3gpp's own constellation. Its `nrTBS` rounds ties of N_info to even numbers (Python's round()), TS 38.214 upwards.
Run as a program it takes a file with a line for each block, `table mcs prbs hex`, and says which came back equal.
"""

from __future__ import annotations

import os
import sys
from fractions import Fraction
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "build" / "l1"  # setup/l1.sh
MODULATIONS = {2: "QPSK", 4: "16QAM", 6: "64QAM", 8: "256QAM"}
RNTI, CELL = 0x4601, 42
ITERATIONS = (3, 15)  # of the LDPC decoder; the second if the first are too few


def available() -> bool:
    if (FOLDER / "py3gpp").is_dir() and str(FOLDER) not in sys.path:
        sys.path.insert(0, str(FOLDER))
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # small matrices: more threads only wait for each other
    return (FOLDER / "py3gpp").is_dir()


def tb_bits(res_per_prb: int, prbs: int, rate: Fraction, bits: int, layers: int) -> int:
    from py3gpp.nrTBS import nrTBS

    return nrTBS(MODULATIONS[bits], layers, prbs, res_per_prb, float(rate))


class Chain:
    """One way to send blocks of a size: `coded` bits on the air, so many a symbol."""

    def __init__(self, octets: int, rate: Fraction, bits: int, coded: int) -> None:
        from py3gpp.nrDLSCHInfo import nrDLSCHInfo

        self.octets, self.rate, self.bits, self.coded = octets, float(rate), bits, coded
        self.modulation = MODULATIONS[bits]
        self.info = nrDLSCHInfo(8 * octets, self.rate)

    def send(self, block: bytes, rv: int = 0):
        """The symbols of the block."""
        import numpy as np
        from py3gpp.nrCodeBlockSegmentLDPC import nrCodeBlockSegmentLDPC
        from py3gpp.nrCRCEncode import nrCRCEncode
        from py3gpp.nrLDPCEncode import nrLDPCEncode
        from py3gpp.nrRateMatchLDPC import nrRateMatchLDPC
        from py3gpp.nrSymbolModulate import nrSymbolModulate

        assert len(block) == self.octets
        bits = np.unpackbits(np.frombuffer(block, np.uint8)).astype(int)
        with_crc = nrCRCEncode(bits, self.info["CRC"])[:, 0]
        code_blocks = nrLDPCEncode(nrCodeBlockSegmentLDPC(with_crc, self.info["BGN"]), self.info["BGN"])
        codeword = nrRateMatchLDPC(code_blocks, self.coded, rv, self.modulation, 1)
        assert len(codeword) == self.coded
        return nrSymbolModulate((codeword.astype(int) + self._scrambling().astype(int)) % 2, self.modulation)

    def receive(self, symbols, rv: int = 0) -> bytes | None:
        """The block, or nothing if its CRC is wrong."""
        import numpy as np
        from py3gpp.nrRateRecoverLDPC import nrRateRecoverLDPC

        soft = self._demodulate(np.asarray(symbols)) * (1 - 2 * self._scrambling())
        recovered = nrRateRecoverLDPC(soft, 8 * self.octets, self.rate, rv, self.modulation, 1)
        recovered = np.where(np.isinf(recovered), 1e6, recovered)  # filler bits: surely 0
        for iterations in ITERATIONS:
            block = self._decode(recovered, iterations)
            if block is not None:
                return block
        return None

    def _decode(self, recovered, iterations: int) -> bytes | None:
        import numpy as np
        from py3gpp.nrCodeBlockDesegmentLDPC import nrCodeBlockDesegmentLDPC
        from py3gpp.nrCRCDecode import nrCRCDecode
        from py3gpp.nrLDPCDecode import nrLDPCDecode

        decoded, _ = nrLDPCDecode(recovered, self.info["BGN"], iterations, Algorithm="Normalized min-sum")
        bits, wrong = nrCodeBlockDesegmentLDPC(decoded, self.info["BGN"], 8 * self.octets + self.info["L"])
        block, crc = nrCRCDecode(np.asarray(bits).astype(int), self.info["CRC"])
        return None if wrong or crc != 0 else np.packbits(block[:, 0].astype(np.uint8)).tobytes()

    def _scrambling(self):
        from py3gpp.nrPRBS import nrPRBS

        return nrPRBS(RNTI * 2**15 + CELL, self.coded)

    def _demodulate(self, symbols):
        """Log-likelihood ratios, positive for 0: by the nearest point with the bit 0 and the nearest one with 1."""
        import numpy as np
        from py3gpp.nrSymbolDemodulate import nrSymbolDemodulate
        from py3gpp.nrSymbolModulate import nrSymbolModulate

        if self.bits <= 4:
            return nrSymbolDemodulate(symbols, self.modulation, nVar=1.0)
        patterns = (np.arange(2**self.bits)[:, None] >> np.arange(self.bits)[::-1]) & 1
        points = nrSymbolModulate(patterns.ravel(), self.modulation)
        distances = np.abs(symbols[:, None] - points[None, :]) ** 2
        ratios = [
            distances[:, patterns[:, bit] == 1].min(axis=1) - distances[:, patterns[:, bit] == 0].min(axis=1)
            for bit in range(self.bits)
        ]
        return np.stack(ratios, axis=1).ravel() * 10


def chain_for(table: int, mcs: int, prbs: int) -> Chain:
    """The product's size for this MCS and these PRBs, and all their REs."""
    from tb_sizes import Shape, rows

    shape = Shape(table)
    row = rows(shape)[mcs]
    return Chain(row.sizes[prbs - 1] // 8, row.rate, row.bits, shape.res_per_prb * prbs * row.bits)


def main(arguments: list[str]) -> int:
    if len(arguments) != 1 or not available():
        print(f"foreign_l1: one file, and py3gpp in {FOLDER} (setup/l1.sh)", file=sys.stderr)
        return 2
    lines = [line.split() for line in Path(arguments[0]).read_text().splitlines()]
    wrong = 0
    for table, mcs, prbs, octets in lines:
        block = bytes.fromhex(octets)
        chain = chain_for(int(table), int(mcs), int(prbs))
        if len(block) != chain.octets or chain.receive(chain.send(block)) != block:
            wrong += 1
            print(f"table {table} MCS {mcs} PRBs {prbs}: {len(block)} octets did not come back")
    print(f"{len(lines) - wrong} of {len(lines)} blocks came back equal")
    return 1 if wrong or not lines else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
