/** The parts of an error of the operating system, or of PostgreSQL, that an explanation needs. */
interface SystemError {
  readonly code?: unknown
  readonly port?: unknown
  readonly address?: unknown
  readonly syscall?: unknown
  readonly errors?: readonly unknown[]
}

type Explanation = (error: SystemError, said: string) => string

/** By the code of the error: `errno` names of the system, and SQLSTATE of PostgreSQL (appendix A of its manual). */
const EXPLANATIONS: Readonly<Record<string, Explanation>> = {
  EADDRINUSE: ({ address, port }) =>
    `Another program listens on port ${port} of ${address}. End it, or choose another port: APP_PORT (METRICS_PORT for the metrics).`,
  EADDRNOTAVAIL: ({ address }) => `This machine has no address ${address}. Set HOST to one of its addresses.`,
  ECONNREFUSED: unreachable,
  ECONNRESET: unreachable,
  EHOSTUNREACH: unreachable,
  ENETUNREACH: unreachable,
  ENOTFOUND: unreachable,
  EAI_AGAIN: unreachable,
  ETIMEDOUT: unreachable,
  '08001': (_, said) =>
    `PostgreSQL cannot be used: ${said}. Start a server, or correct the hosts in DATABASE_URL.`,
  '08004': (_, said) =>
    `The PostgreSQL server of DATABASE_URL ${said}. Name the server that takes writes, or several hosts with commas between.`,
  '28P01': refused,
  '28000': refused,
  '3D000': (_, said) =>
    `The PostgreSQL server of DATABASE_URL says: ${said}. Create it (createdb <name>), or correct the name at the end of DATABASE_URL.`,
  '42501': (_, said) =>
    `The PostgreSQL server of DATABASE_URL says: ${said}. The user needs the right to create tables in its schema.`,
  '53300': (_, said) =>
    `The PostgreSQL server of DATABASE_URL says: ${said}. Each process of the service uses up to 11 connections: raise max_connections, or run fewer processes.`,
}

/**
 * Explains an error that a wrong setting of the machine causes, with the variable to change; undefined for any other error. Urls do not
 * occur in it, because they may contain a password (I11).
 */
export function explainSystemError(error: unknown): string | undefined {
  const [first] = (error as SystemError | undefined)?.errors ?? []
  // Node joins the errors of several addresses of one host.
  const one = (first ?? error ?? {}) as SystemError
  if (typeof one.code === 'string' && one.code === 'EACCES' && one.syscall === 'listen')
    return `This user may not listen on port ${one.port}. Choose a port above 1023: APP_PORT.`
  const explain = typeof one.code === 'string' ? EXPLANATIONS[one.code] : undefined
  return explain?.(one, one instanceof Error ? one.message : String(one.code))
}

function unreachable(_: SystemError, said: string): string {
  return `The PostgreSQL server of DATABASE_URL cannot be reached: ${said}. Start it, or correct host and port in DATABASE_URL; without DATABASE_URL the embedded database in DATA_DIR is used.`
}

function refused(_: SystemError, said: string): string {
  return `The PostgreSQL server of DATABASE_URL refuses the user: ${said}. Correct user and password in DATABASE_URL.`
}
