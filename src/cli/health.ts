import { localUrl } from '../config/api-access.ts'
import { loadConfig } from '../config/load.ts'
import { type Command, EXIT } from './command.ts'

/** A service that does not answer within this time, in ms, is not healthy. */
const TIMEOUT_MS = 3_000

/** `relayer health`. */
export const health: Command = {
  name: 'health',
  summary: 'Ask the service of this configuration whether it runs, for health checks of containers.',
  usage: '',
  help: [
    'Asks GET /api/v1/health on the HOST and APP_PORT that serve listens on. Exits with 0 when the service answers, with 1 otherwise.',
  ],
  options: [],
  maxPositionals: 0,
  async run(_args, terminal) {
    const url = `${localUrl(loadConfig().server)}/api/v1/health`
    try {
      const { status } = await fetch(url, { signal: AbortSignal.timeout(TIMEOUT_MS) })
      terminal.out(`${url} answered ${status}`)
      return status === 200 ? EXIT.ok : EXIT.failed
    } catch {
      terminal.err(`${url} does not answer`)
      return EXIT.failed
    }
  },
}
