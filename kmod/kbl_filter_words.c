// SPDX-License-Identifier: GPL-2.0-only
/* Split a filter text into words: tokens, numbers and addresses. */
#include "kbl_filter.h"

static const struct {
	const char *text;
	u8 token;
	u8 value;
} kbl_keywords[] = {
	{ "and", KBL_TOK_AND, 0 },
	{ "or", KBL_TOK_OR, 0 },
	{ "not", KBL_TOK_NOT, 0 },
	{ "ip", KBL_TOK_PROTO, KBL_Q_IP },
	{ "ip6", KBL_TOK_PROTO, KBL_Q_IP6 },
	{ "arp", KBL_TOK_PROTO, KBL_Q_ARP },
	{ "rarp", KBL_TOK_PROTO, KBL_Q_RARP },
	{ "tcp", KBL_TOK_PROTO, KBL_Q_TCP },
	{ "udp", KBL_TOK_PROTO, KBL_Q_UDP },
	{ "sctp", KBL_TOK_PROTO, KBL_Q_SCTP },
	{ "icmp", KBL_TOK_PROTO, KBL_Q_ICMP },
	{ "icmp6", KBL_TOK_PROTO, KBL_Q_ICMP6 },
	{ "src", KBL_TOK_DIR, KBL_DIR_SRC },
	{ "dst", KBL_TOK_DIR, KBL_DIR_DST },
	{ "host", KBL_TOK_TYPE, KBL_Q_HOST },
	{ "net", KBL_TOK_TYPE, KBL_Q_NET },
	{ "port", KBL_TOK_TYPE, KBL_Q_PORT },
	{ "portrange", KBL_TOK_TYPE, KBL_Q_PORTRANGE },
	{ "proto", KBL_TOK_TYPE, KBL_Q_PROTO },
	{ "dev", KBL_TOK_TYPE, KBL_Q_DEV },
	{ "netns", KBL_TOK_TYPE, KBL_Q_NETNS },
	{ "mark", KBL_TOK_TYPE, KBL_Q_MARK },
	{ "pid", KBL_TOK_TYPE, KBL_Q_PID },
	{ "sample", KBL_TOK_TYPE, KBL_Q_SAMPLE },
	{ "sample-packets", KBL_TOK_TYPE, KBL_Q_SAMPLE_PACKETS },
};

static bool kbl_is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/*
 * Characters that end a word.  All except the space and the end of the text are tokens
 * themselves.
 */
static bool kbl_ends_word(char c)
{
	return !c || kbl_is_space(c) || strchr("()!&|", c);
}

bool kbl_word_is(const struct kbl_word *word, const char *text)
{
	return strlen(text) == word->len && !memcmp(word->at, text, word->len);
}

static void kbl_word_sign(struct kbl_word *word)
{
	char c = word->at[0];

	word->len = 1;
	word->token = c == '(' ? KBL_TOK_OPEN : c == ')' ? KBL_TOK_CLOSE : KBL_TOK_NOT;
	if (c != '&' && c != '|')
		return;
	word->token = c == '&' ? KBL_TOK_AND : KBL_TOK_OR;
	if (word->at[1] == c)
		word->len = 2;
	else
		word->token = KBL_TOK_BAD;
}

static void kbl_word_letters(struct kbl_word *word)
{
	u32 i;

	word->token = KBL_TOK_OTHER;
	for (; !kbl_ends_word(word->at[word->len]); word->len++)
		if (word->at[word->len] <= ' ' || word->at[word->len] > '~')
			word->token = KBL_TOK_BAD;
	for (i = 0; i < ARRAY_SIZE(kbl_keywords); i++) {
		if (kbl_word_is(word, kbl_keywords[i].text)) {
			word->token = kbl_keywords[i].token;
			word->value = kbl_keywords[i].value;
		}
	}
}

/* Take the next word off *text. */
void kbl_word_next(const char **text, struct kbl_word *word)
{
	while (kbl_is_space(**text))
		(*text)++;
	*word = (struct kbl_word){ .at = *text };
	if (!**text)
		word->token = KBL_TOK_END;
	else if (kbl_ends_word(**text))
		kbl_word_sign(word);
	else
		kbl_word_letters(word);
	*text += word->len;
}

/* Position of @c, or @len. */
u32 kbl_text_find(const char *at, u32 len, char c)
{
	u32 i;

	for (i = 0; i < len && at[i] != c; i++)
		;
	return i;
}

static int kbl_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : 16;
}

/*
 * Parse a decimal number, or a hexadecimal one after 0x.  A leading 0 is refused: it could mean
 * octal.
 */
bool kbl_text_number(const char *at, u32 len, u32 max, u32 *to)
{
	int base = 10;
	u64 value = 0;
	u32 i;

	if (len > 2 && at[0] == '0' && (at[1] | 0x20) == 'x') {
		base = 16;
		at += 2;
		len -= 2;
	} else if (len > 1 && at[0] == '0') {
		return false;
	}
	for (i = 0; i < len; i++) {
		if (kbl_digit(at[i]) >= base)
			return false;
		value = value * base + kbl_digit(at[i]);
		if (value > max)
			return false;
	}
	*to = value;
	return len > 0;
}

/* Parse one to four decimal numbers separated by dots; missing bytes are 0. */
bool kbl_text_ipv4(const char *at, u32 len, u8 *addr, u32 *parts)
{
	u32 part, value;

	memset(addr, 0, 4);
	for (*parts = 0; *parts < 4; (*parts)++) {
		part = kbl_text_find(at, len, '.');
		if (part > 3 || !kbl_text_number(at, part, 255, &value))
			return false;
		addr[*parts] = value;
		if (part == len)
			break;
		at += part + 1;
		len -= part + 1;
	}
	return (*parts)++ < 4;
}

bool kbl_text_ipv6(const char *at, u32 len, u8 *addr)
{
	const char *end = at;

	if (len > 45 || kbl_text_find(at, len, ':') == len)
		return false;
	return in6_pton(at, len, addr, -1, &end) && end == at + len;
}
