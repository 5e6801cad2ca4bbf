/* SPDX-License-Identifier: Apache-2.0 */
/* Takes the columns of other formats out of the table of members. */
#include "audit/export/member_names.h"

#include <assert.h>

#define CEF_NONE .cef = NULL
#define CEF_KEY(key) .cef = (key)
#define CEF_LABELED(key, label) .cef = (key), .cef_label = (label)
#define OCSF_NONE .ocsf = {.any = NULL}
#define OCSF(...) .ocsf = {__VA_ARGS__}
#define FRAME(id, n, column, what) {.name = (n), .csv = (column)},
#define MEMBER(id, n, type, unit, show, column, CEF, OCSF, what)                                   \
	{.name = (n), .tag = WARD_TAG_##id, .csv = (column), CEF, OCSF},
const struct ward_export_member ward_export_members[WARD_EXPORT_MEMBERS] = {
#include "audit/record_members.def"
};
#undef FRAME
#undef MEMBER

/* Two members with the same column do not compile. */
#define FRAME(id, name, column, what) COLUMN_##column = (column),
#define MEMBER(id, name, type, unit, show, column, cef, ocsf, what) COLUMN_##column = (column),
enum {
#include "audit/record_members.def"
};
#undef FRAME
#undef MEMBER

#define FRAME(id, name, column, what) [column] = (name),
#define MEMBER(id, name, type, unit, show, column, cef, ocsf, what) [column] = (name),
static const char *const columns[] = {
#include "audit/record_members.def"
};
#undef FRAME
#undef MEMBER
/* Different numbers, and the highest is their count: each of them from 1 on is there. */
static_assert(sizeof(columns) / sizeof(*columns) == WARD_EXPORT_MEMBERS + 1, "a column a member");

const char *ward_export_csv_column(size_t i)
{
	return i > 0 && i <= WARD_EXPORT_MEMBERS ? columns[i] : NULL;
}
