/** A toolchain that not every machine has: `java` is a JDK with Maven. */
export type Toolchain = 'go' | 'java'

/** One thing to do, with the name that the progress shows. */
export interface Step {
  readonly name: string
  /** The toolchain that it needs beside Node and Python; absent if it needs no other. */
  readonly needs?: Toolchain
  readonly run: () => Promise<unknown>
}

/** Most steps are programs with one thread, and the machines of CI have two cores or more. */
const AT_A_TIME = 2

/** Runs all steps, some at a time, says how each ended, and gives the number of those that failed. */
export async function runSteps(steps: readonly Step[], atATime: number = AT_A_TIME): Promise<number> {
  const waiting = [...steps]
  let failures = 0
  const work = async () => {
    for (let step = waiting.shift(); step !== undefined; step = waiting.shift())
      if (!(await runStep(step))) failures += 1
  }
  await Promise.all(Array.from({ length: atATime }, work))
  return failures
}

async function runStep({ name, run }: Step): Promise<boolean> {
  const start = performance.now()
  const failure = await run().then(
    () => undefined,
    (error: unknown) => error,
  )
  const seconds = ((performance.now() - start) / 1000).toFixed(1).padStart(6)
  console.log(`${failure === undefined ? 'ok  ' : 'FAIL'} ${seconds} s  ${name}`)
  if (failure !== undefined) console.log(failure instanceof Error ? failure.message : failure)
  return failure === undefined
}
