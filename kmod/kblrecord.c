// SPDX-License-Identifier: MIT
/* kblrecord - arms the functions of probe lists, and stores or shows what they record. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "rec_session.h"

static volatile sig_atomic_t rec_stop, rec_asked;

static void rec_on_stop(int number)
{
	(void)number;
	rec_stop = 1;
}

static void rec_on_usr1(int number)
{
	(void)number;
	rec_asked = 1;
}

/*
 * No SA_RESTART: a signal ends the wait. If SIGHUP was ignored at the start, it stays ignored,
 * for nohup(1).
 */
static void rec_signals(void)
{
	struct sigaction asked = { .sa_handler = rec_on_usr1 };
	struct sigaction stop = { .sa_handler = rec_on_stop }, old;

	sigaction(SIGINT, &stop, NULL);
	sigaction(SIGTERM, &stop, NULL);
	if (!sigaction(SIGHUP, NULL, &old) && old.sa_handler != SIG_IGN)
		sigaction(SIGHUP, &stop, NULL);
	sigaction(SIGUSR1, &asked, NULL);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
}

/* A recording that fails on the way must not leave the kernel probed. */
static void rec_deactivate(void)
{
	rec_module_write("control", "deactivate\n");
}

static int rec_record(struct rec_session *s)
{
	rec_signals();
	rec_session_open(s);
	atexit(rec_deactivate);
	rec_session_begin(s);
	while (!rec_stop && rec_session_turn(s)) {
		if (rec_asked)
			rec_session_report(s);
		rec_asked = 0;
	}
	return rec_session_end(s);
}

int main(int argc, char **argv)
{
	static struct rec_session session;
	static struct rec_options options;

	setvbuf(stdout, NULL, _IOFBF, 1 << 16);
	rec_options_parse(&options, argc, argv);
	if (options.in)
		return rec_show(&options);
	session.o = &options;
	if (!options.list)
		rec_module_lock();
	rec_session_probes(&session, &options);
	if (!options.list)
		return rec_record(&session);
	rec_list_show(&session.probes);
	return fflush(stdout) ? 1 : 0;
}
