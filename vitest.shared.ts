/** Settings of every run of tests. */
export const EVERY_RUN = {
  retry: 0,
  env: { NODE_ENV: 'test' },
}

/** Settings of runs whose files start chains, databases and services. */
export const SERVICES_RUN = {
  ...EVERY_RUN,
  // Files share two cores with the chains and databases that they start; a third one uses the time in which two wait.
  maxWorkers: 3,
  // Most files are over before better code for the embedded database would pay for the time it takes to make.
  execArgv: ['--liftoff-only'],
}

/** Settings of `npm test`, and of the long tests that could be part of it. */
export const SHARING_RUN = {
  ...SERVICES_RUN,
  // Tests leave nothing behind in their process. Files share it with what it has loaded and compiled, which takes longer than most of them.
  isolate: false,
  testTimeout: 30_000,
  hookTimeout: 30_000,
}
