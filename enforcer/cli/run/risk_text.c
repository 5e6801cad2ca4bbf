/* SPDX-License-Identifier: Apache-2.0 */
/* Prints for people what mode auto counts. */
#include "enforcer/cli/run/risk_text.h"

#include <string.h>

#include "enforcer/base/out.h"

static const char *text(const json_t *o, const char *name)
{
	const char *s = json_string_value(json_object_get(o, name));
	return s ? s : "";
}

static long long number(const json_t *o, const char *name)
{
	return (long long)json_integer_value(json_object_get(o, name));
}

static void print_row(const char *indent, const json_t *row)
{
	ward_outf("%s%6lld  %-18s %s%s%s\n", indent, number(row, "points"), text(row, "row"),
		text(row, "sentence"), *text(row, "sentence") && *text(row, "fact") ? ": " : "",
		text(row, "fact"));
}

/* Returns how many there are of the others. */
static size_t print_rows(const char *indent, const json_t *o, bool costs)
{
	size_t others = 0;
	const json_t *row = NULL;
	size_t i = 0;
	json_array_foreach(json_object_get(o, "rows"), i, row)
	{
		if ((number(row, "points") > 0) == costs)
			print_row(indent, row);
		else
			others++;
	}
	return others;
}

static void print_answer(const json_t *o)
{
	const char *mode = text(o, "mode");
	ward_outf("%lld point%s → %s", number(o, "points"), number(o, "points") == 1 ? "" : "s",
		*mode ? mode : "refused: no mode of this host suffices");
	if (*text(o, "overrode"))
		ward_outf("; --mode %s overrides it", text(o, "overrode"));
	ward_outf("\n");
}

/* A signature that counts for nothing would be missed without a line. */
static void print_signature(const json_t *o)
{
	const json_t *program = json_object_get(o, "program");
	const json_t *s = json_object_get(program, "signature");
	if (!json_is_object(s))
		return;
	ward_outf("%-12s %s: %s%s%s", "signature", text(s, "state"), text(program, "path"),
		text(s, "suffix"), *text(s, "signer") ? " by key " : "");
	ward_outf("%s%s%s\n", text(s, "signer"), *text(s, "why") ? ": " : "", text(s, "why"));
}

void ward_risk_print(const json_t *o, bool verbose)
{
	const json_t *from = NULL;
	size_t i = 0;
	ward_outf("points  row                what is behind it\n");
	const size_t others = print_rows("", o, true);
	if (verbose)
		(void)print_rows("", o, false);
	else if (others)
		ward_outf("     0  %zu more rows, which cost nothing here (-v prints them)\n",
			others);
	ward_outf("\n");
	print_answer(o);
	ward_outf("%-12s", "modes from");
	json_array_foreach(json_object_get(o, "from"), i, from)
		ward_outf("%s %s %lld", i ? "," : "", text(from, "mode"), number(from, "points"));
	ward_outf(" points; never less than %s\n", text(o, "least"));
	if (*text(o, "passed"))
		ward_outf("%-12s %s\n", "passed over", text(o, "passed"));
	print_signature(o);
	ward_outf("%-12s %lld of this project or program\n", "sessions", number(o, "sessions"));
}

void ward_risk_print_short(const json_t *o)
{
	ward_outf("%-12s ", "risk");
	print_answer(o);
	(void)print_rows("  ", o, true);
}
