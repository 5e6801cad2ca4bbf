/* SPDX-License-Identifier: Apache-2.0 */
/* What is done for the tables of a served tree when directories move and nodes end (node.h). */
#pragma once

#include "fs/node/node.h"

extern const struct ward_nodes_hooks ward_node_hooks;
