package prospectpg

const jobEnv = "PROSPECTPG_TEST_JOB"

func work(string) error { return nil }
