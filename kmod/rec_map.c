// SPDX-License-Identifier: MIT
/*
 * Full sub-buffers where they lie in the kernel module's memory.  The chunk's
 * header and the PAD behind it are written around the records there, so that
 * nothing is copied before the disk fetches it.  Where that cannot be, and of
 * what is not full yet, read() is good enough.
 */
#include <errno.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

#include "kbl_map.h"
#include "rec.h"

_Static_assert(KBL_MAP_HEAD == sizeof(struct kbl_chunk_header), "room for a chunk's header");

/* The whole of it, its pages present: else each would be a fault while recording. */
void rec_map_open(struct rec_cpu *c)
{
	struct kbl_map_part part = {};
	void *p;

	c->map = NULL;
	if (ioctl(c->fd, KBL_MAP_NEXT, &part) && errno != EAGAIN)
		return;
	p = mmap(NULL, part.size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, c->fd, 0);
	if (p != MAP_FAILED)
		c->map = p;
}

/*
 * The records of the next full sub-buffer; false: there is none.  Where a part
 * of it was read already *data is NULL: the rest of it, *len bytes, is too.
 */
bool rec_map_next(const struct rec_cpu *c, char **data, size_t *len)
{
	struct kbl_map_part part;

	if (!c->map || ioctl(c->fd, KBL_MAP_NEXT, &part))
		return false;
	*data = part.from % REC_BLOCK == KBL_MAP_HEAD && !c->have ? c->map + part.from : NULL;
	*len = part.to - part.from;
	return true;
}

/* The kernel may have it again; if somebody else cleared all meanwhile, it has. */
void rec_map_done(const struct rec_cpu *c, const char *data, size_t len)
{
	struct kbl_map_part part = { .from = data - c->map, .to = data - c->map + len };

	ioctl(c->fd, KBL_MAP_DONE, &part);
}
