// SPDX-License-Identifier: Apache-2.0
// What everybody knows and a scrubbed report therefore keeps: words of the trade, names of public
// frameworks, programs, groups and functions. Pure functions, thread-safe.
#pragma once

#include <string_view>

namespace holter::report::share {

// A word of English or of the trade in any case: no name, whatever stands around it.
bool is_ordinary(std::string_view word);
// All parts between '_', '-', '.', ':' and blanks are ordinary words or numbers.
bool is_ordinary_phrase(std::string_view phrase);
// "torch", "megatron", "threading.py": the first part of a Python path.
bool is_public_package(std::string_view name);
// "ProcessGroupNCCL.cpp", "net_ib.cc": the file name says which public source it is.
bool is_public_source(std::string_view path);
// "forward", "__init__", "<module>".
bool is_common_function(std::string_view name);
// "python3", "VLLM::EngineCore".
bool is_common_process(std::string_view name);
// "root", "slurm".
bool is_system_user(std::string_view name);
// "rank3", "mlx5_0", "eth0", "cuda12": letters and a number, but no host.
bool is_device_or_rank(std::string_view name);
// "nvidia.com", "docs.pytorch.org".
bool is_public_site(std::string_view host);
// "huggingface", "s3": the first label of a domain that is no host of anybody's.
bool is_public_service(std::string_view label);
// ".log" of "a.log", "" when the ending is not one of a known kind of file.
std::string_view known_extension(std::string_view path);

}  // namespace holter::report::share
