/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the policy leaves to a person (`[network] ask`). A destination is one question, which goes
 * to the supervisor once, however many connections ask meanwhile (WARD_MSG_NET_ASK). A question
 * ends with its answer, or at its time; what was refused is not asked again for a while.
 */
#pragma once

#include "enforcer/base/question_id.h"
#include "enforcer/ipc/msg.h"
#include "enforcer/net/base/asker.h"
#include "enforcer/net/base/net.h"

/* Known at once, also those that rest; one more is refused without a question. */
#define WARD_NET_QUESTIONS_MAX 1000U
/* How long one stays that no connection waits for, and how long one rests that nobody answered. */
#define WARD_NET_QUESTION_STAYS_NS (600 * WARD_NS_PER_SEC)
#define WARD_NET_QUESTION_RESTS_NS (60 * WARD_NS_PER_SEC)

/* HOST:PORT, as the policy is asked about it. */
#define WARD_NET_DESTINATION_MAX (WARD_NAME_SIZE + 16)

enum ward_net_question {
	WARD_NET_QUESTION_NONE = 0, /* none could be put */
	WARD_NET_QUESTION_RESTS,    /* it was refused a while ago, or nobody answered */
	WARD_NET_QUESTION_PUT,	    /* nobody has answered yet */
};

/* The subject of a question; texts are borrowed. */
struct ward_net_question_about {
	const char *to; /* HOST:PORT */
	const char *place, *rule;
	const struct ward_asker *asker;
	bool waits; /* a connection is to wait for the answer */
};

/*
 * Puts the question unless it is there. *ret_id: its id, 0 for NONE; *ret_due_ns: until then
 * connections wait for it (CLOCK_MONOTONIC), 0 unless `waits` and PUT.
 */
enum ward_net_question ward_net_question_put(struct ward_broker *net,
	const struct ward_net_question_about *about, uint32_t *ret_id, uint64_t *ret_due_ns);
/* WARD_MSG_NET_ASK_END: the question has ended, and the table knows it. -EBADMSG. */
int ward_net_question_message(struct ward_broker *net, struct ward_msg_reader *m, uint32_t *ret_id,
	bool *ret_refused) ward_must_check;
void ward_net_questions_close(struct ward_broker *net);
