// SPDX-License-Identifier: MIT
/*
 * Full sub-buffers are used in place, in the kernel module's memory.  kblrecord writes the
 * chunk's header before the records there, and the PAD after them, so nothing is copied before
 * the disk reads it.  Where this is not possible, and for sub-buffers that are not full, read()
 * is used.
 */
#include <errno.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

#include "kbl_map.h"
#include "rec.h"

_Static_assert(KBL_MAP_HEAD == sizeof(struct kbl_chunk_header), "room for a chunk's header");

/* Map the whole buffer and populate it.  Otherwise every page would fault while recording. */
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
 * Find the records of the next full sub-buffer; false: there is none.  If a part of it has been
 * read already, *data is NULL and the remaining *len bytes must be read, too.
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

/* Give it back to the kernel; this fails if another process cleared the buffer. */
void rec_map_done(const struct rec_cpu *c, const char *data, size_t len)
{
	struct kbl_map_part part = { .from = data - c->map, .to = data - c->map + len };

	ioctl(c->fd, KBL_MAP_DONE, &part);
}
