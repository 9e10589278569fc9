// SPDX-License-Identifier: Apache-2.0
#include "diagnose_command.h"

int main(int argc, char** argv) { return holter::app::diagnose_command({argv + 1, argv + argc}); }
