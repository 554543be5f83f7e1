! A ring, one way, in Fortran: with the module mpi_f08, or with mpi if MPI_MODULE is defined.
program ring
#ifdef MPI_MODULE
  use mpi
#else
  use mpi_f08
#endif
  implicit none
  integer, parameter :: n = 1000, steps = 20
  integer :: rank, ranks, step, provided, i, error
  real(8) :: out(n), in(n)
#ifdef MPI_MODULE
  integer :: requests(2)
#else
  type(MPI_Request) :: requests(2)
#endif
  call MPI_Init_thread(MPI_THREAD_FUNNELED, provided, error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
  do step = 1, steps
    !$omp parallel do num_threads(2)
    do i = 1, n
      out(i) = sqrt(real(i * step, 8))
    end do
    call MPI_Irecv(in, n, MPI_DOUBLE_PRECISION, mod(rank + ranks - 1, ranks), 0, MPI_COMM_WORLD, requests(1), error)
    call MPI_Isend(out, n, MPI_DOUBLE_PRECISION, mod(rank + 1, ranks), 0, MPI_COMM_WORLD, requests(2), error)
    call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE, error)
  end do
  call MPI_Finalize(error)
end program
