load
cat $kbl/calibration | grep -v '#'
echo calibrate > $kbl/control
cat $kbl/calibration | grep tau
echo cpu-clock > $kbl/counter
echo calibrate > $kbl/control
cat $kbl/calibration | grep -v '#'
cat $kbl/stats
fail "debug"
