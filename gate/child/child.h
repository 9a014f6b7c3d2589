/*
 * Everything between clone and exec.
 *
 * The parent writes a complete struct launch; the child carries it out with
 * raw system calls (gate/child/sys.h), because it shares the parent's memory
 * and runs beside it. There are two functions, each the start of a process:
 *
 *	init_main     the owner of the tree: pid 1 of its namespaces, or a
 *		      subreaper where there are none. Makes the view, starts
 *		      the program, forwards signals, reaps, ends the tree.
 *	child_main    the program until exec: descriptors, session, limits,
 *		      identity, Landlock, filter.
 *
 * A failure is written into the launch; when the child's end of the socket
 * is closed everywhere, the parent reads what came of it. So nothing blocks
 * for ever when a child dies at any point.
 */
#ifndef GATE_CHILD_CHILD_H
#define GATE_CHILD_CHILD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <linux/filter.h>

#include "core/base/address.h"
#include "core/base/attr.h"
#include "gate/cgroup/cgroup.h"
#include "gate/build/landlock.h"
#include "gate/cgroup/limits.h"
#include "gate/build/setup.h"
#include "gate/child/left.h"

enum child_stage {
#define CHILD_STAGE(name, text) STAGE_##name,
#include "gate/child/child_stages.def"
#undef CHILD_STAGE
};

/*
 * Descriptors that a child needs until exec. Init moves them to CHILD_FD(i)
 * and closes all others, so that neither a low bound nor a runner with
 * thousands of them is felt afterwards.
 */
enum child_fd {
	FD_SOCK, /* the child's end of the socket pair */
	FD_IN,
	FD_OUT,
	FD_ERR,
	FD_EXEC,    /* the judged file */
	FD_RULESET, /* of Landlock, or -1 */
	FD_BASE,    /* a message with the files of the base: launch.base */
	FD_GROUP,   /* doors of the control group, see cgroup_open_doors(), or
		       where launch.group_door is */
	FD_GROUP_LAST = FD_GROUP + CGROUP_TREES - 1,
	FD_MAPS, /* the first user namespace of id-mapped mounts */
	N_FDS = FD_MAPS + SETUP_IDMAPS,
};
#define CHILD_FD(i) (3 + (i))
/* Sent by the gate to an init without a pid namespace: end the tree. */
#define CHILD_SIGNAL_END 63

/*
 * State of a tree after its start: written by init, read by the gate after
 * init's pidfd is readable. In the gate's memory.
 */
struct child_state {
	int has_status; /* the program has ended with .wait_status */
	int wait_status;
	uint64_t max_rss_kib; /* of the largest process reaped */
	uint64_t cpu_us;      /* of the program and those it has reaped */
	struct left left;     /* when the program ended by itself */
};

/* Signals that the runner ignores, found out by its first child. */
struct child_signals {
	bool are_known;
	uint64_t ignored; /* bit 0 is signal 1 */
};

/* Does init count what the program leaves in a private folder? */
enum launch_left { LEFT_IGNORED, LEFT_IN_FOLDER, LEFT_IN_HOME };

/* Word of the gate to a program that is ready to be executed; one that sleeps
   until then has said so, and is woken by a byte on FD_SOCK. */
enum launch_leave { LEAVE_WAIT, LEAVE_ASLEEP, LEAVE_GO, LEAVE_END };

/* A path that is opened in the child's own view for a Landlock rule. */
struct late_rule {
	const char *path;
	uint64_t access; /* as the kernel takes it */
};

/* The byte of a message on FD_SOCK; descriptors come with it. */
enum child_message {
	CHILD_REPORT,  /* the program is about to be executed; its listener */
	CHILD_SOCKETS, /* sockets of launch.listen; launch.asks_sockets */
};

/* A socket of the child's network that is served from outside. */
struct child_socket {
	struct address_socket at;
	int type;	  /* SOCK_STREAM listens, SOCK_DGRAM is bound; SOCK_RAW
			     sees the TCP packets of its family */
	bool is_optional; /* left out where it cannot be had */
};

struct launch {
	/* for init */
	struct child_state *state;
	const int *runner;  /* 0: it is dead; set by launch_begin() */
	bool own_pids;	    /* pid 1 of a pid namespace */
	bool is_trial;	    /* make the view, start nothing */
	bool keep_dumpable; /* leak checkers must look into the runner */
	int fd[N_FDS];	    /* in the runner; -1 = none; FD_SOCK is filled in
			       by launch_start() */
	/* The runner's table of descriptors is shared until init has taken what
	   lies below .table_end, and has written 8 bytes to .table_left; all
	   but FD_SOCK then comes in a message on that. 0: it has a copy from
	   the start (gate/child/launch.h). */
	int table_end, table_left;
	const char *uid_map, *gid_map; /* of an own user namespace, or NULL */
	struct setup_list setup;
	int *slots;
	const struct late_rule *late; /* added to the ruleset by init */
	size_t n_late;
	/* Rights on the files of the base, as the kernel takes them; added to
	   the ruleset by the program. Complete when their message is there. */
	const uint64_t *base;
	size_t n_base;	     /* at most PASS_MAX */
	bool base_stays;     /* it is in FD_BASE for all children; else it comes
				over FD_SOCK */
	void *program_stack; /* upper end of it */
	/* at most PASS_MAX */
	const struct child_socket *listen;
	size_t n_listen;
	/* A socket that tells of the sockets in the own network is sent behind
	   them: sock_diag(7) */
	bool asks_sockets;
	const char *group_door; /* to be opened at FD_GROUP; or NULL */
	/* The first door is a folder to clone the program into; else it writes
	   itself into all of them. */
	bool has_group_folder;

	enum launch_left left;
	const char *counted; /* folder of .left */
	bool marks_counted;  /* left.is_listed will tell */
	uint64_t until_ns;   /* exec by then, monotonic */

	/* for the program */
	struct child_signals *signals;
	struct limit limits[N_LIMITS];
	bool change_id; /* to uid, gid, without groups */
	uid_t uid;
	gid_t gid;
	const char *cwd;
	struct sock_fprog filter;	/* refused calls go to the listener */
	struct sock_fprog filter_errno; /* without one; empty: not without */
	/*
	 * Answers the listener while the gate waits for the exec, which is a
	 * watched call itself; NULL: nothing is watched, and the listener is
	 * looked at only afterwards. It may take *diag (launched.diag) and
	 * write -1 there. False: it cannot be served any more.
	 */
	bool (*serve)(int listener, int *diag, void *arg);
	void *serve_arg;
	/* The gate calls it beside the child. It sends the message of the base;
	   sock is the other end of FD_SOCK. NULL: that is there. */
	int (*beside)(void *arg, int sock, struct err *err);
	void *beside_arg;
	/* Likewise; without its leave, .leave, the program is not executed.
	   NULL: it need not wait. */
	int (*before_exec)(void *arg, struct err *err);
	void *before_exec_arg;
	/* In an own view the file is opened again, by this path, and must be
	   the one that was judged. NULL: FD_EXEC is executed. */
	const char *exec_path;
	dev_t exec_dev;
	ino_t exec_ino;
	const char *const *argv;
	const char *const *envp;

	uint32_t leave; /* enum launch_leave */

	/* results */
	int exec_fd; /* file that init has chosen to be executed */
	uint64_t
		exec_cookie; /* the filter knows our own exec by it; 0 = none */
	bool is_grouped;     /* init has cloned it into its group */
	int started;	     /* the program is executed */
	enum child_stage stage; /* where it failed; STAGE_NONE = nowhere */
	int sys;		/* errno of that */
	long setup_step;	/* of STAGE_SETUP: index in .setup */
};

/* A launch with no descriptors yet. */
#define LAUNCH_NO_FDS                  \
	{                              \
		[0 ... N_FDS - 1] = -1 \
	}

/* For clone(); arg is a struct launch. */
int init_main(void *arg);
int child_main(void *arg);

/*
 * Carry the list out. For the child only: raw system calls, no libc.
 *
 * slots    room for list->slots descriptors
 * map_fd   descriptor of the first id map; the others follow
 * ret_sys  errno of the step that failed
 * returns  -1 when everything is done, else the index of the failed step
 */
long setup_run(const struct setup_list *list, int *slots, int map_fd,
	       int *ret_sys);

#endif
