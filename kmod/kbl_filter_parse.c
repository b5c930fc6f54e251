// SPDX-License-Identifier: GPL-2.0-only
/*
 * The parser of filter texts, by Dijkstra's shunting-yard algorithm: no recursion, two bounded
 * stacks.  As in pcap-filter(7), "and" and "or" have equal precedence and associate from left
 * to right, "not" binds tighter, and a bare word takes the qualifiers of the word before it.
 */
#include "kbl_filter.h"

#define KBL_PARSE_STACK 64
#define KBL_NO_WORD "not a word of this subset of pcap-filter"

/*
 * On the stack of operators: an operator that waits for its right operand, or an open
 * parenthesis.
 */
struct kbl_waiting {
	u8 token;		/* enum kbl_token */
	bool ids;		/* parenthesis: it may contain only bare words */
	bool q_valid;
	struct kbl_qual q;	/* qualifiers that apply again after it */
};

struct kbl_parser {
	const char *text;
	struct kbl_word word;
	struct kbl_qual q;	/* qualifiers for the next bare word */
	bool q_valid;
	bool ids;		/* after "port (": only bare words until it closes */
	u32 depth;
	u32 nwaiting;
	struct kbl_waiting waiting[KBL_PARSE_STACK];
	struct kbl_filter_program *program;
	const char *why;
};

static bool kbl_fail(struct kbl_parser *p, const char *why)
{
	p->why = p->why ?: why;
	return false;
}

static bool kbl_unexpected(struct kbl_parser *p, const char *why)
{
	return kbl_fail(p, p->word.token == KBL_TOK_BAD ? KBL_NO_WORD : why);
}

static bool kbl_emit(struct kbl_parser *p, const struct kbl_filter_op *op)
{
	struct kbl_filter_program *program = p->program;

	if (program->nops == KBL_FILTER_OPS)
		return kbl_fail(p, "the filter is too long");
	if (op->code > KBL_OP_OR && ++p->depth > KBL_FILTER_DEPTH)
		return kbl_fail(p, "the filter is nested too deep");
	if (op->code == KBL_OP_AND || op->code == KBL_OP_OR)
		p->depth--;
	program->wants_dev |= op->code == KBL_OP_DEV;
	program->wants_task |= op->code == KBL_OP_PID;
	program->by_packet |= op->code == KBL_OP_SAMPLE_PACKETS;
	program->ops[program->nops++] = *op;
	return true;
}

static bool kbl_emit_waiting(struct kbl_parser *p)
{
	struct kbl_filter_op op = {};

	switch (p->waiting[--p->nwaiting].token) {
	case KBL_TOK_NOT:
		op.code = KBL_OP_NOT;
		break;
	case KBL_TOK_AND:
		op.code = KBL_OP_AND;
		break;
	default:
		op.code = KBL_OP_OR;
	}
	return kbl_emit(p, &op);
}

static bool kbl_wait(struct kbl_parser *p, u8 token)
{
	if (p->nwaiting == KBL_PARSE_STACK)
		return kbl_fail(p, "the filter is nested too deep");
	p->waiting[p->nwaiting++] = (struct kbl_waiting){
		.token = token,
		.ids = p->ids,
		.q_valid = p->q_valid,
		.q = p->q,
	};
	return true;
}

static u8 kbl_top(const struct kbl_parser *p)
{
	return p->nwaiting ? p->waiting[p->nwaiting - 1].token : KBL_TOK_END;
}

static void kbl_advance(struct kbl_parser *p)
{
	kbl_word_next(&p->text, &p->word);
}

/* An operand is complete: apply a "not" before it. */
static bool kbl_operand_done(struct kbl_parser *p)
{
	u32 i = p->nwaiting;

	while (kbl_top(p) == KBL_TOK_NOT)
		if (!kbl_emit_waiting(p))
			return false;
	for (i = p->nwaiting; i && p->waiting[i - 1].token != KBL_TOK_OPEN; i--)
		;
	p->ids = i && p->waiting[i - 1].ids;
	return true;
}

/* Take the word that the qualifiers apply to. */
static bool kbl_id(struct kbl_parser *p)
{
	struct kbl_filter_op op;
	bool is_net;

	if (!kbl_id_op(&p->q, &p->word, &op, &p->why))
		return false;
	is_net = op.code == KBL_OP_NET && p->q.type == KBL_Q_NET &&
		 kbl_text_find(p->word.at, p->word.len, '/') == p->word.len;
	kbl_advance(p);
	if (is_net && kbl_word_is(&p->word, "mask")) {
		kbl_advance(p);
		if (!kbl_id_netmask(&op, &p->word, &p->why))
			return false;
		kbl_advance(p);
	}
	return kbl_emit(p, &op) && kbl_operand_done(p);
}

/* "src", "dst", "src or dst", "src and dst" and the other way round. */
static bool kbl_dir(struct kbl_parser *p)
{
	struct kbl_word first = p->word, joint;
	const char *rest;

	p->q.dir = first.value;
	kbl_advance(p);
	joint = p->word;
	rest = p->text;
	if (joint.token != KBL_TOK_AND && joint.token != KBL_TOK_OR)
		return true;
	kbl_advance(p);
	if (p->word.token == KBL_TOK_DIR && p->word.value != first.value) {
		p->q.dir = joint.token == KBL_TOK_AND ? KBL_DIR_BOTH :
							    KBL_DIR_SAID_EITHER;
		kbl_advance(p);
		return true;
	}
	p->word = joint;
	p->text = rest;
	return kbl_fail(p, "src or dst wants an address or port");
}

/* A device or protocol may have the name of a keyword. */
static bool kbl_is_own_name(const struct kbl_parser *p)
{
	if (p->q.type == KBL_Q_PROTO)
		return p->word.token == KBL_TOK_PROTO;
	return p->q.type == KBL_Q_DEV && p->word.token < KBL_TOK_BAD && p->word.at[0] >= 'a' &&
	       p->word.at[0] <= 'z';
}

/* Parse from the first qualifier on: "tcp", "tcp src port 80", "port (80 or 443)". */
static bool kbl_head(struct kbl_parser *p)
{
	struct kbl_filter_op op = {};

	p->q = (struct kbl_qual){};
	p->q_valid = true;
	if (p->word.token == KBL_TOK_PROTO) {
		p->q.proto = p->word.value;
		kbl_advance(p);
	}
	if (p->word.token != KBL_TOK_DIR && p->word.token != KBL_TOK_TYPE) {
		p->q_valid = false;
		kbl_proto_op(p->q.proto, &op);
		return kbl_emit(p, &op) && kbl_operand_done(p);
	}
	if (p->word.token == KBL_TOK_DIR && !kbl_dir(p))
		return false;
	p->q.type = KBL_Q_HOST;
	if (p->word.token == KBL_TOK_TYPE) {
		p->q.type = p->word.value;
		kbl_advance(p);
	}
	if (p->word.token == KBL_TOK_OTHER || kbl_is_own_name(p))
		return kbl_id(p);
	if (p->word.token != KBL_TOK_OPEN && p->word.token != KBL_TOK_NOT)
		return kbl_unexpected(p, "an address, number or name is missing here");
	p->ids = true;
	return true;
}

static bool kbl_operand(struct kbl_parser *p, bool *complete)
{
	u32 nops = p->program->nops;
	bool ok = true;

	switch (p->word.token) {
	case KBL_TOK_NOT:
	case KBL_TOK_OPEN:
		ok = kbl_wait(p, p->word.token);
		if (ok)
			kbl_advance(p);
		break;
	case KBL_TOK_PROTO:
	case KBL_TOK_DIR:
	case KBL_TOK_TYPE:
		if (p->ids)
			return kbl_fail(p, "an address, number or name is missing here");
		ok = kbl_head(p);
		break;
	case KBL_TOK_OTHER:
		if (!p->q_valid)
			return kbl_fail(p, KBL_NO_WORD);
		ok = kbl_id(p);
		break;
	default:
		return kbl_unexpected(p, "something is missing here");
	}
	*complete = p->program->nops > nops;
	return ok;
}

static bool kbl_close(struct kbl_parser *p)
{
	struct kbl_waiting *open;

	while (p->nwaiting && kbl_top(p) != KBL_TOK_OPEN)
		if (!kbl_emit_waiting(p))
			return false;
	if (!p->nwaiting)
		return kbl_fail(p, "no parenthesis is open here");
	open = &p->waiting[--p->nwaiting];
	p->q = open->q;
	p->q_valid = open->q_valid;
	kbl_advance(p);
	return kbl_operand_done(p);
}

/* After an operand: the left side of "and" or "or" is complete. */
static bool kbl_operator(struct kbl_parser *p, bool *complete)
{
	u8 token = p->word.token;

	if (token == KBL_TOK_CLOSE)
		return kbl_close(p);
	if (token != KBL_TOK_AND && token != KBL_TOK_OR)
		return kbl_unexpected(p, "and, or, or the end should stand here");
	while (p->nwaiting && kbl_top(p) != KBL_TOK_OPEN)
		if (!kbl_emit_waiting(p))
			return false;
	kbl_advance(p);
	*complete = false;
	return kbl_wait(p, token);
}

static bool kbl_expression(struct kbl_parser *p)
{
	bool complete = false;

	kbl_advance(p);
	if (p->word.token == KBL_TOK_END)
		return true;
	while (!complete || p->word.token != KBL_TOK_END)
		if (!(complete ? kbl_operator(p, &complete) : kbl_operand(p, &complete)))
			return false;
	while (p->nwaiting) {
		if (kbl_top(p) == KBL_TOK_OPEN)
			return kbl_fail(p, "a parenthesis is not closed");
		if (!kbl_emit_waiting(p))
			return false;
	}
	return true;
}

/* Compile a text; an empty one makes an empty program.  Returns 0, or -EINVAL with @error set. */
int kbl_filter_parse(struct kbl_filter_program *program, const char *text,
		     struct kbl_filter_error *error)
{
	struct kbl_parser p = { .text = text, .program = program };

	*program = (struct kbl_filter_program){};
	if (kbl_expression(&p))
		return 0;
	error->why = p.why;
	error->at = p.word.at - text;
	error->len = p.word.len;
	return -EINVAL;
}
