// The program of a .spec as a graph of instructions. The actions stand behind the table that runs them, once for each
// table. All edges lead forward, so one pass over the nodes is enough for any analysis.
#pragma once

#include <map>
#include <optional>

#include "card/aot/row_layout.h"

namespace splitplane::nic {

enum class FlowOp : std::uint8_t {
  kMove,  // operand 0 = operand 1
  kAdd,   // operand 0 += operand 1; the others alike
  kSubtract,
  kAnd,
  kOr,
  kXor,
  kShiftLeft,
  kShiftRight,
  kExtract,
  kLookahead,
  kValidate,
  kInvalidate,
  kEmit,
  kLookup,     // finds the row of a table and goes to one of its actions
  kActionEnd,  // behind the last action of a table
  kJump,       // always
  kJumpEqual,  // if operand 0 and operand 1 are equal; the others alike
  kJumpUnequal,
  kJumpLess,
  kJumpGreater,
  kJumpValid,
  kJumpInvalid,
  kJumpHit,
  kJumpMiss,
  kJumpAction,  // if the last table ran the action
  kJumpOtherAction,
  kRead,    // operand 0 = register array [operand 1]
  kWrite,   // register array [operand 0] = operand 1
  kCount,   // register array [operand 0] += operand 1
  kHash,    // operand 0 = hash over the fields from operand 1 to operand 2
  kMirror,  // slot, session
  kReceive,
  kTransmit,
  kDrop,
  kReturn,
  kNothing,
};

struct FlowOperand {
  enum class Kind : std::uint8_t { kNumber, kMetadata, kHeader, kArgument };
  Kind kind = Kind::kNumber;
  std::uint64_t number = 0;
  std::size_t header = 0, field = 0;  // indices; an argument's `field` is its place in the action's struct
  unsigned bits = 64, offset = 0;     // `offset` in octets: of a header's field
};

struct FlowNode {
  FlowOp op = FlowOp::kNothing;
  unsigned line = 0;
  std::vector<FlowOperand> operands;
  std::size_t header = 0;            // kExtract and so on; kJumpValid
  std::size_t table = 0;             // kLookup, kActionEnd, and what stands in an action
  std::size_t action = 0;            // what stands in an action: its place in the table; kJumpAction: in the file
  std::size_t array = 0;             // kRead, kWrite, kCount
  std::string hash;                  // kHash: the name of the function
  std::size_t target = 0;            // of a jump: a node
  std::vector<std::size_t> actions;  // kLookup: the first node of each action
  std::size_t end = 0;               // kLookup: its kActionEnd
  std::vector<std::size_t> next;     // all that may follow
};

struct Flow {
  const SpecFile* spec = nullptr;
  const SpecStruct* metadata = nullptr;
  std::vector<FlowNode> nodes;
  std::vector<RowLayout> rows;                 // of each table
  std::vector<std::vector<FlowOperand>> keys;  // of each table
  std::vector<unsigned> header_bytes;          // of each header
  [[nodiscard]] const SpecStruct& header_type(std::size_t header) const;
};

// The error is "<file>:<line>: what is wrong": an instruction that is not understood, or a name that is nowhere.
// `spec` must outlive the result.
[[nodiscard]] Expected<Flow> make_flow(const SpecFile& spec);

}  // namespace splitplane::nic
