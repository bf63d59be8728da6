// Which paths a command may read as a file: opening a FIFO, a device or a file of /proc can wait for ever or never end.
// And where it may write its result.
#pragma once

#include <optional>
#include <string>

namespace splitplane {

// Why `path` cannot be read as a file ("is a FIFO", "Permission denied"); nothing if it can. It opens no file.
[[nodiscard]] std::optional<std::string> refuse_to_read(const std::string& path);
// Why a result could not be written to `path`; nothing if it could, or if `path` is empty.
[[nodiscard]] std::optional<std::string> refuse_result_path(const std::string& path);

}  // namespace splitplane
