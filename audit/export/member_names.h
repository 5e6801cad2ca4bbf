/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What other formats call the members of a record: the columns CSV, CEF and OCSF of
 * audit/record_members.def. A member that is in that table has a column of CSV and an attribute of
 * OTLP ("wardfs." and its name) without anybody's help.
 */
#pragma once

#include <stddef.h>

#include "audit/record_table.h"

/* Where a member goes in an event of OCSF: attributes with dots between them; NULL: nowhere. */
struct ward_export_ocsf_names {
	const char *any;      /* in every class */
	const char *actor;    /* in the classes that have an actor: the four below */
	const char *file;     /* 1001, File System Activity */
	const char *process;  /* 1007, Process Activity */
	const char *network;  /* 4001, Network Activity */
	const char *dns;      /* 4003, DNS Activity */
	const char *question; /* of `ask` and `grant`, whatever their class is */
};

struct ward_export_member {
	const char *name;
	enum ward_event_tag tag; /* WARD_TAG_NONE: what the writer puts around each record */
	unsigned csv;		 /* from 1 */
	const char *cef;	 /* NULL: in none */
	const char *cef_label;	 /* of a custom field; NULL: the key says what it is */
	struct ward_export_ocsf_names ocsf;
};

#define FRAME(id, name, csv, what) +1
#define MEMBER(id, name, type, unit, show, csv, cef, ocsf, what) +1
enum {
	WARD_EXPORT_MEMBERS = 0
#include "audit/record_members.def"
};
#undef FRAME
#undef MEMBER

/* In the order of a record. */
extern const struct ward_export_member ward_export_members[WARD_EXPORT_MEMBERS];
/* The name of column i of CSV, from 1. */
const char *ward_export_csv_column(size_t i);
