// Each call that sends, receives, waits or synchronises, once, in a communicator of three ranks in reverse.
//
// Counts of ints differ from call to call: what a record says of its call is known.
#include <mpi.h>
#include <stddef.h>

enum { MOST = 64 };
static int out[MOST], in[MOST], memory[MOST], me, next, last;
static MPI_Comm ring;

static void messages(void)
{
    MPI_Request r[2];
    MPI_Message found;
    int index, indices[2], done = 0;
    MPI_Irecv(in, 1, MPI_INT, last, 0, ring, r);
    MPI_Ssend(out, 1, MPI_INT, next, 0, ring);
    while (!done)
        MPI_Test(r, &done, MPI_STATUS_IGNORE);
    MPI_Irecv(in, 2, MPI_INT, MPI_ANY_SOURCE, 0, ring, r);
    MPI_Issend(out, 2, MPI_INT, next, 0, ring, r + 1);
    MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
    MPI_Sendrecv_replace(in, 3, MPI_INT, next, 0, last, 0, ring, MPI_STATUS_IGNORE);
    MPI_Isend(out, 4, MPI_INT, next, 0, ring, r);
    MPI_Mprobe(last, 0, ring, &found, MPI_STATUS_IGNORE);
    MPI_Mrecv(in, 4, MPI_INT, &found, MPI_STATUS_IGNORE);
    MPI_Waitany(1, r, &index, MPI_STATUS_IGNORE);
    MPI_Isend(out, 5, MPI_INT, next, 0, ring, r);
    MPI_Mprobe(last, 0, ring, &found, MPI_STATUS_IGNORE);
    MPI_Imrecv(in, 5, MPI_INT, &found, r + 1);
    MPI_Wait(r + 1, MPI_STATUS_IGNORE);
    MPI_Waitsome(2, r, &done, indices, MPI_STATUSES_IGNORE);
    MPI_Isend(out, 6, MPI_INT, next, 0, ring, r);
    MPI_Probe(last, 0, ring, MPI_STATUS_IGNORE);
    MPI_Recv(in, 6, MPI_INT, last, 0, ring, MPI_STATUS_IGNORE);
    MPI_Wait(r, MPI_STATUS_IGNORE);
    MPI_Send(out, 7, MPI_INT, MPI_PROC_NULL, 0, ring);
    MPI_Isendrecv(out, 8, MPI_INT, next, 0, in, 9, MPI_INT, last, 0, ring, r);
    MPI_Wait(r, MPI_STATUS_IGNORE);
    MPI_Isendrecv_replace(in, 12, MPI_INT, next, 0, last, 0, ring, r);
    MPI_Wait(r, MPI_STATUS_IGNORE);
    MPI_Recv_init(in, 10, MPI_INT, last, 0, ring, r);
    MPI_Ssend_init(out, 10, MPI_INT, next, 0, ring, r + 1);
    MPI_Startall(2, r);
    MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
    MPI_Request_free(r);
    MPI_Request_free(r + 1);
    MPI_Precv_init(in, 5, 11, MPI_INT, last, 1, ring, MPI_INFO_NULL, r);
    MPI_Psend_init(out, 5, 11, MPI_INT, next, 1, ring, MPI_INFO_NULL, r + 1);
    MPI_Start(r);
    MPI_Start(r + 1);
    MPI_Pready(0, r[1]);
    MPI_Pready_range(1, 2, r[1]);
    MPI_Pready_list(1, (int[]){3}, r[1]);
    MPI_Pready_range(4, 4, r[1]);
    MPI_Parrived(r[0], 1, &done);
    MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
    MPI_Request_free(r);
    MPI_Request_free(r + 1);
}

static void one_sided(void)
{
    MPI_Win win;
    MPI_Request r;
    MPI_Group all, to, from;
    MPI_Win_create(memory, sizeof memory, sizeof(int), MPI_INFO_NULL, ring, &win);
    MPI_Win_fence(0, win);
    MPI_Accumulate(out, 1, MPI_INT, next, 0, 1, MPI_INT, MPI_SUM, win);
    MPI_Win_fence(0, win);
    MPI_Get(in, 2, MPI_INT, next, 0, 2, MPI_INT, win);
    MPI_Win_fence(0, win);
    MPI_Win_lock(MPI_LOCK_SHARED, next, 0, win);
    MPI_Get_accumulate(out, 3, MPI_INT, in, 3, MPI_INT, next, 0, 3, MPI_INT, MPI_SUM, win);
    MPI_Win_flush(next, win);
    MPI_Fetch_and_op(out, in, MPI_INT, next, 0, MPI_SUM, win);
    MPI_Win_flush_local(next, win);
    MPI_Compare_and_swap(out, out + 1, in, MPI_INT, next, 0, win);
    MPI_Win_unlock(next, win);
    MPI_Win_lock_all(0, win);
    MPI_Rput(out, 4, MPI_INT, next, 0, 4, MPI_INT, win, &r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    MPI_Win_flush_all(win);
    MPI_Rget(in, 5, MPI_INT, next, 0, 5, MPI_INT, win, &r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    MPI_Raccumulate(out, 6, MPI_INT, next, 0, 6, MPI_INT, MPI_SUM, win, &r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    MPI_Win_flush_local_all(win);
    MPI_Rget_accumulate(out, 7, MPI_INT, in, 7, MPI_INT, next, 0, 7, MPI_INT, MPI_SUM, win, &r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    MPI_Win_unlock_all(win);
    MPI_Win_get_group(win, &all);
    MPI_Group_incl(all, 1, &next, &to);
    MPI_Group_incl(all, 1, &last, &from);
    MPI_Win_post(from, 0, win);
    MPI_Win_start(to, 0, win);
    MPI_Put(out, 8, MPI_INT, next, 0, 8, MPI_INT, win);
    MPI_Win_complete(win);
    MPI_Win_wait(win);
    MPI_Group_free(&all);
    MPI_Group_free(&to);
    MPI_Group_free(&from);
    MPI_Win_free(&win);
}

static void collectives(void)
{
    const int counts[3] = {1, 1, 1}, places[3] = {0, 1, 2};
    MPI_Request r;
    MPI_Bcast(in, 1, MPI_INT, 0, ring);
    MPI_Reduce(out, in, 2, MPI_INT, MPI_SUM, 0, ring);
    MPI_Allreduce(out, in, 3, MPI_INT, MPI_SUM, ring);
    MPI_Scan(out, in, 4, MPI_INT, MPI_SUM, ring);
    MPI_Gather(out, 5, MPI_INT, in, 5, MPI_INT, 0, ring);
    MPI_Allgather(out, 6, MPI_INT, in, 6, MPI_INT, ring);
    MPI_Alltoall(out, 7, MPI_INT, in, 7, MPI_INT, ring);
    MPI_Allgatherv(out, 1, MPI_INT, in, counts, places, MPI_INT, ring);
    MPI_Iallreduce(out, in, 8, MPI_INT, MPI_SUM, ring, &r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
}

// Of a graph 0 - 1 - 2, and of one with weights in which each sends to others than it receives from.
static void neighbours(void)
{
    const int index[] = {1, 3, 4}, edges[] = {1, 0, 2, 1}, counts[] = {1, 2}, places[] = {0, 1};
    static const int in_degree[] = {2, 1, 2}, from[][2] = {{1, 2}, {0, 0}, {0, 1}};
    static const int out_degree[] = {2, 2, 1}, to[][2] = {{2, 1}, {0, 2}, {0, 0}}, weights[] = {1, 1};
    MPI_Comm graph, sides;
    MPI_Graph_create(ring, 3, index, edges, 0, &graph);
    MPI_Neighbor_allgather(out, 1, MPI_INT, in, 1, MPI_INT, graph);
    MPI_Dist_graph_create_adjacent(ring, in_degree[me], from[me], weights, out_degree[me], to[me], weights,
                                   MPI_INFO_NULL, 0, &sides);
    MPI_Neighbor_alltoall(out, 3, MPI_INT, in, 3, MPI_INT, sides);
    const int received[] = {me == 2 ? 2 : 1, 1}, at[] = {0, 2};
    MPI_Neighbor_alltoallv(out, counts, places, MPI_INT, in, received, at, MPI_INT, graph);
    MPI_Comm_free(&graph);
    MPI_Comm_free(&sides);
}

int main(int argc, char **argv)
{
    int world;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &world);
    MPI_Comm_split(MPI_COMM_WORLD, 0, -world, &ring);
    MPI_Comm_rank(ring, &me);
    next = (me + 1) % 3, last = (me + 2) % 3;
    messages();
    one_sided();
    collectives();
    neighbours();
    MPI_Comm_free(&ring);
    MPI_Finalize();
    return 0;
}
