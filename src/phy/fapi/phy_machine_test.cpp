#include "phy/fapi/phy_machine.h"

#include <gtest/gtest.h>

namespace splitplane::fapi {
namespace {

ConfigRequest legal() {
  ConfigRequest request;
  request.dl_grid_size = request.ul_grid_size = PerNumerology{0, 273, 0, 0, 0};
  request.phy_cell_id = 500;
  request.frame_duplex_type = 0;
  request.scs_common = 1;
  return request;
}

class PhyMachining : public testing::Test {
 protected:
  void configure() { ASSERT_EQ(machine_.receive(legal()).error_code, ErrorCode::kOk); }
  void start() {
    configure();
    ASSERT_FALSE(machine_.receive(StartRequest{}));
  }
  void slots(unsigned count) {
    for (; count != 0; --count) now_ = machine_.begin_slot();
  }

  PhyMachine machine_{ParamResponse{.release_capability = 1}, 4};
  std::optional<SlotIndication> now_;
};

TEST_F(PhyMachining, param_response_says_the_state) {
  EXPECT_EQ(machine_.receive(ParamRequest{}).phy_state, 0);
  configure();
  EXPECT_EQ(machine_.receive(ParamRequest{}).phy_state, 1);
  EXPECT_EQ(machine_.receive(ParamRequest{}).release_capability, 1);
}

TEST_F(PhyMachining, goes_from_idle_to_running_and_back_to_configured) {
  EXPECT_EQ(machine_.state(), PhyState::kIdle);
  configure();
  EXPECT_EQ(machine_.state(), PhyState::kConfigured);
  EXPECT_FALSE(machine_.receive(StartRequest{}));
  EXPECT_EQ(machine_.state(), PhyState::kRunning);
  EXPECT_FALSE(machine_.receive(StopRequest{}));
  EXPECT_EQ(machine_.state(), PhyState::kConfigured);
  EXPECT_FALSE(machine_.receive(StartRequest{}));
}

TEST_F(PhyMachining, messages_out_of_state_bring_an_error) {
  const auto expect = [](const std::optional<ErrorIndication>& error, MessageId id) {
    ASSERT_TRUE(error);
    EXPECT_EQ(error->message_id, static_cast<std::uint8_t>(id));
    EXPECT_EQ(error->error_code, ErrorCode::kInvalidState);
  };
  const MessageId of_slots[] = {MessageId::kDlTtiRequest, MessageId::kUlTtiRequest, MessageId::kTxDataRequest};
  expect(machine_.receive(StartRequest{}), MessageId::kStartRequest);
  expect(machine_.receive(StopRequest{}), MessageId::kStopRequest);
  for (const MessageId id : of_slots) expect(machine_.receive_for_slot(id, 0, 0), id);
  EXPECT_EQ(machine_.state(), PhyState::kIdle);
  configure();
  expect(machine_.receive(StopRequest{}), MessageId::kStopRequest);
  for (const MessageId id : of_slots) expect(machine_.receive_for_slot(id, 0, 0), id);
  EXPECT_EQ(machine_.state(), PhyState::kConfigured);
  ASSERT_FALSE(machine_.receive(StartRequest{}));
  expect(machine_.receive(StartRequest{}), MessageId::kStartRequest);
  EXPECT_EQ(machine_.receive(ParamRequest{}).error_code, ErrorCode::kInvalidState);
  EXPECT_EQ(machine_.receive(legal()).error_code, ErrorCode::kInvalidState);
  EXPECT_EQ(machine_.state(), PhyState::kRunning);
}

TEST_F(PhyMachining, limits_of_grids_spacing_and_window_are_kept) {
  const auto refused = [this](auto change) {
    ConfigRequest request = legal();
    change(request);
    const ConfigResponse response = machine_.receive(request);
    return response.invalid.size() == 1 && response.error_code == ErrorCode::kInvalidConfig;
  };
  EXPECT_TRUE(refused([](ConfigRequest& r) { r.timing_window = 31; }));
  EXPECT_FALSE(refused([](ConfigRequest& r) { r.timing_window = 30; }));
  EXPECT_TRUE(refused([](ConfigRequest& r) { r.scs_common = 4; }));
  EXPECT_FALSE(refused([](ConfigRequest& r) { r.scs_common = 3; }));
  EXPECT_TRUE(refused([](ConfigRequest& r) { r.dl_grid_size = PerNumerology{}; }));
  EXPECT_TRUE(refused([](ConfigRequest& r) { r.ul_grid_size = PerNumerology{}; }));
}

TEST_F(PhyMachining, a_configuration_without_mandatory_tlvs_is_not_taken) {
  ConfigRequest request = legal();
  request.phy_cell_id.reset();
  request.scs_common.reset();
  const ConfigResponse response = machine_.receive(request);
  EXPECT_EQ(response.error_code, ErrorCode::kInvalidConfig);
  ASSERT_EQ(response.missing.size(), 2U);
  EXPECT_EQ(response.missing[0], 0x100C);
  EXPECT_EQ(response.missing[1], 0x1010);
  EXPECT_EQ(machine_.state(), PhyState::kIdle);
}

TEST_F(PhyMachining, a_wrong_value_is_named_and_nothing_is_taken) {
  configure();
  ConfigRequest request;
  request.phy_cell_id = 1008;
  request.num_tx_ant = 4;
  const ConfigResponse response = machine_.receive(request);
  EXPECT_EQ(response.error_code, ErrorCode::kInvalidConfig);
  ASSERT_EQ(response.invalid.size(), 1U);
  EXPECT_EQ(response.invalid[0], 0x100C);
  EXPECT_EQ(machine_.config(), legal());
}

TEST_F(PhyMachining, a_later_configuration_changes_what_it_names) {
  configure();
  ConfigRequest request;
  request.phy_cell_id = 3;
  ASSERT_EQ(machine_.receive(request).error_code, ErrorCode::kOk);
  EXPECT_EQ(machine_.config().phy_cell_id, 3);
  EXPECT_EQ(machine_.config().dl_grid_size, legal().dl_grid_size);
}

TEST_F(PhyMachining, slots_are_counted_by_numerology_and_come_round) {
  EXPECT_FALSE(machine_.begin_slot());
  start();
  slots(1);
  EXPECT_EQ(now_, (SlotIndication{.sfn = 0, .slot = 0}));
  slots(20);
  EXPECT_EQ(now_, (SlotIndication{.sfn = 1, .slot = 0}));
  slots(1023 * 20 - 1);
  EXPECT_EQ(now_, (SlotIndication{.sfn = 1023, .slot = 19}));
  slots(1);
  EXPECT_EQ(now_, (SlotIndication{.sfn = 0, .slot = 0}));
}

TEST_F(PhyMachining, late_messages_and_those_too_early_are_out_of_sync) {
  start();
  slots(20);  // now 0.19
  EXPECT_FALSE(machine_.receive_for_slot(MessageId::kDlTtiRequest, 0, 19));
  EXPECT_FALSE(machine_.receive_for_slot(MessageId::kDlTtiRequest, 1, 3));
  const auto late = machine_.receive_for_slot(MessageId::kDlTtiRequest, 0, 18);
  ASSERT_TRUE(late);
  EXPECT_EQ(late->error_code, ErrorCode::kSfnOutOfSync);
  EXPECT_EQ(late->slot, 19);  // where the PHY is
  ASSERT_TRUE(machine_.receive_for_slot(MessageId::kUlTtiRequest, 1, 4));
  const auto data = machine_.receive_for_slot(MessageId::kTxDataRequest, 1023, 19);
  ASSERT_TRUE(data);
  EXPECT_EQ(data->error_code, ErrorCode::kInvalidSfn);
  const auto beyond = machine_.receive_for_slot(MessageId::kDlTtiRequest, 0, 20);
  ASSERT_TRUE(beyond);
  EXPECT_EQ(beyond->error_code, ErrorCode::kSlotError);
}

TEST_F(PhyMachining, a_message_for_the_next_frame_is_early_across_the_last_sfn) {
  start();
  slots(1024 * 20);  // now 1023.19
  EXPECT_FALSE(machine_.receive_for_slot(MessageId::kDlTtiRequest, 0, 1));
  EXPECT_TRUE(machine_.receive_for_slot(MessageId::kDlTtiRequest, 1023, 18));
}

}  // namespace
}  // namespace splitplane::fapi
