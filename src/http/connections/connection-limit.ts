import type { Logger } from 'pino'

/** A quarter of the file descriptors stays free for endpoints, webhooks, the database and files, and never less than this. */
const LEAST_RESERVE = 256

/** The part of the process limit that `fittingLimit` reads. */
interface OpenFiles {
  /** The most file descriptors of the process; Node raises the soft limit to the hard one at its start. */
  readonly openFiles: number
}

/** Gives the number of connections that leave enough file descriptors for everything else, but at least one. */
export function fittingLimit(wanted: number, { openFiles }: OpenFiles): number {
  const most = Math.min(Math.floor((openFiles * 3) / 4), openFiles - LEAST_RESERVE)
  return Math.max(1, Math.min(wanted, most))
}

/** Lowers the wanted number of connections to what the process may open, and logs that it did. */
export function connectionLimit(wanted: number, log: Logger): number {
  const openFiles = openFilesOfProcess()
  const limit = fittingLimit(wanted, { openFiles })
  if (limit < wanted)
    log.warn({ wanted, limit, openFiles }, 'connection limit lowered: the process may open too few files')
  return limit
}

/** The type declarations of Node lack the option, and the shape of the report. */
const report: object & { excludeNetwork?: boolean; getReport(): object } = process.report

interface ProcessReport {
  readonly userLimits?: { readonly open_files?: { readonly soft?: number | string } }
}

function openFilesOfProcess(): number {
  // Without this option the report resolves the names of all peers.
  report.excludeNetwork = true
  const { userLimits } = report.getReport() as ProcessReport
  const soft = Number(userLimits?.open_files?.soft)
  return Number.isFinite(soft) ? soft : Number.POSITIVE_INFINITY
}
