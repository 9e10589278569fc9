// SPDX-License-Identifier: Apache-2.0
#include "app.h"

int main(int argc, char** argv) { return holter::app::run({argv + 1, argv + argc}); }
