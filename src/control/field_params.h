// Reads the members of a request into a struct, and writes a struct as members, by the struct's rows.
#pragma once

#include <string_view>
#include <vector>

#include "control/params.h"
#include "fields/field.h"

namespace splitplane::app {

namespace detail {

std::vector<std::string_view> read_rows(Params& params, const fields::Rows& rows, void* into);
void write_rows(Json& json, const fields::Rows& rows, const void* of, const void* common);

}  // namespace detail

// Overwrites what the request names, and returns those names; the first fault stays in `params`.
template <class T>
std::vector<std::string_view> read_fields(Params& params, const fields::Fields<T>& rows, T& into) {
  return detail::read_rows(params, rows, &into);
}

// Adds the keys that `of` has; with `common` those of them that differ there.
template <class T>
void write_fields(Json& json, const fields::Fields<T>& rows, const T& of, const T* common = nullptr) {
  detail::write_rows(json, rows, &of, common);
}

}  // namespace splitplane::app
