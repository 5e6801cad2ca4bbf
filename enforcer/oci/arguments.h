/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The command line of an OCI runtime, as runc and crun have it: options of all commands, the
 * command, its options, the id of the container, the rest.
 *
 * The line goes on to the real runtime as it is, so both have to understand it alike. An option
 * that is not in the table here is refused: whether it takes a value would be a guess, and a wrong
 * guess takes an option's value for the command.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "enforcer/base/err.h"

enum ward_oci_command {
	WARD_OCI_NONE = 0,
	WARD_OCI_HELP,
	WARD_OCI_VERSION,
	WARD_OCI_CREATE,
	WARD_OCI_RUN,
	WARD_OCI_START,
	WARD_OCI_EXEC,
	WARD_OCI_DELETE,
	WARD_OCI_UPDATE,
	/* The real runtime answers alone: state kill ps list pause resume events features */
	WARD_OCI_PASSED,
};

#define WARD_OCI_ARGS_MAX 4096

struct ward_oci_args {
	enum ward_oci_command command;
	int argc;
	char **argv; /* borrowed; argv[0] is the runtime's when it is executed */
	const char *root, *log;
	bool log_json;
	const char *id;	    /* NULL: none */
	const char *bundle; /* NULL: the current directory */
	int bundle_at;	    /* the argument that has it, as --bundle=DIR where bundle_joined */
	bool bundle_joined;
	/* exec, update */
	const char *process;   /* FILE of --process, --resources, or NULL */
	int process_at;	       /* the argument that has it */
	bool process_joined;   /* as --process=FILE */
	bool caps, privileges; /* --cap, or --no-new-privs=false: on the command line */
	char *const *rest;     /* behind the id */
};

/* -EINVAL: the line cannot be understood, or asks for something that has no guard. */
int ward_oci_arguments(
	int argc, char **argv, struct ward_oci_args *ret, struct ward_err *err) ward_must_check;
