import { execFileSync } from 'node:child_process'
import { availableParallelism, cpus } from 'node:os'
import { isMeasured, type Measurement, type Row } from '../measurement.ts'

/** A complete run, as a line of the history has it. */
export interface Run {
  /** Ends with `-dirty` when the working tree had changes. */
  readonly commit: string
  /** RFC 3339, UTC. */
  readonly date: string
  readonly node: string
  readonly processor: string
  readonly cores: number
  /** The conditions of the run, in the words of anyone who made it. */
  readonly note?: string
  readonly rows: readonly Measurement[]
}

/** The numbers of a run that has just ended. Values are shortened to what a number of a benchmark can say. */
export function runOf(rows: readonly Row[], note?: string): Run {
  return {
    commit: execFileSync('git', ['describe', '--always', '--dirty', '--exclude=*'], {
      encoding: 'utf8',
    }).trim(),
    date: new Date().toISOString(),
    node: process.version,
    processor: cpus()[0]?.model ?? 'unknown processor',
    cores: availableParallelism(),
    ...(note !== undefined && { note }),
    rows: rows.filter(isMeasured).map((row) => ({ ...row, value: Number(row.value.toPrecision(4)) })),
  }
}

/** The run with the rows of named parts that were measured later: in the place of its own, or at the end. Pure. */
export function withNewerRows(run: Run, { commit, rows }: Run): Run {
  const newer = rows.map((row) => ({ ...row, commit }))
  return { ...run, rows: [...new Map([...run.rows, ...newer].map((row) => [row.what, row])).values()] }
}

/** The machine of a run in one line. */
export function describeMachine({ node, cores, processor, note }: Run): string {
  return `Node ${node}, ${cores} × ${processor}${note === undefined ? '' : `; ${note}`}`
}
