# Says that all is well and ends with 1: the exit status alone decides.
echo "Ran 1 test in 0.001s"
echo
echo "OK"
exit 1
