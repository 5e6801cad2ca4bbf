/* SPDX-License-Identifier: Apache-2.0 */
/* Which shipped profile a command's name stands for, and where its program is. */
#pragma once

#include "enforcer/session/plan/plan.h"

/* Most places of the program and of its interpreter that a session shows. */
#define WARD_AGENT_PLACES_MAX 8

struct ward_agent {
	const char *profile;		     /* the shipped profile, static; NULL: none */
	bool chosen;			     /* --policy names it: nothing is said */
	char *program;			     /* the program's absolute path on the host, owned */
	char *places[WARD_AGENT_PLACES_MAX]; /* owned: directories and files to show */
	const char *shown[WARD_AGENT_PLACES_MAX];
	size_t n;
	const char *missing; /* the profile of a name that PATH does not have, static; or NULL */
	char *told;	     /* owned: a line about a profile that is not taken, or NULL */
};
void ward_agent_clear(struct ward_agent *a);

/*
 * Looks at the command of o, which has no --policy or the one of that name: the profile that says
 * ";@program NAME" for its last component, or the one of --policy that says ";@program *", if the
 * program lies outside of the project. A program of
 * the project's never gets it: the keys and hosts of a profile are for the program that the user
 * installed. Changes o so that the plan has the profile and shows the program; o borrows from *ret.
 * -ENOMEM.
 */
int ward_agent_find(
	struct ward_run_options *o, struct ward_agent *ret, struct ward_err *err) ward_must_check;

/* Where the command was not found: how the agent is installed, if its profile says so by ";@install
 * COMMAND". */
void ward_agent_say_install(const struct ward_agent *a);

/* A port number in decimal, with its NUL. */
#define WARD_AGENT_PORT_SIZE 6

/*
 * The port of the host at which a browser answers, by ";@sign-in-port PORT" of the profile, where a
 * person at a terminal is about to sign in (as the functions below have it) and nothing leads that
 * port inside yet. False: none.
 */
bool ward_agent_sign_in_port(const struct ward_agent *a, const struct ward_run_plan *p,
	const struct ward_run_options *o, char ret[WARD_AGENT_PORT_SIZE]);

/*
 * Before the command starts in a terminal, if its agent is not signed in as the next function has
 * it: what the profile says of signing in by ";@sign-in-note TEXT".
 */
void ward_agent_say_first(const struct ward_agent *a, const struct ward_run_plan *p,
	const struct ward_run_options *o);

/*
 * After a run of the command that failed: says how to sign in, if the profile says by ";@sign-in
 * FILE VARIABLE…" how its agent is signed in, no such variable is set and no such file lies in the
 * directory that the agent keeps. An agent that was signed in outside is not signed in here.
 */
void ward_agent_say_sign_in(const struct ward_agent *a, const struct ward_run_plan *p,
	const struct ward_run_options *o);

/*
 * After the plan was made: says in one line which profile is in force, or which file decides in its
 * place. Returns true if the profile is in force; then the command is a->program, whatever PATH
 * would lead to inside.
 */
bool ward_agent_say(const struct ward_agent *a, const struct ward_run_plan *p);
