/* SPDX-License-Identifier: Apache-2.0 */
/* `wardfs audit` alone, so that the trail's cases need no more than the trail. */
#include "enforcer/cli/cli.h"

int main(int argc, char **argv)
{
	return ward_cmd_audit(argc, argv);
}
