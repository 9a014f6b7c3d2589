use strict;
use warnings;
use Digest::SHA;
use File::Temp;
use List::Util 'sum';
use POSIX ();

my $f = File::Temp->new;
print $f "x" x 100;
close $f;
my $pid = fork // die;
POSIX::_exit(3) unless $pid;
waitpid $pid, 0;
print -s $f->filename, " ", $? >> 8, " ", sum(1 .. 10), " ",
	substr(Digest::SHA::sha256_hex("x"), 0, 8), "\n";
