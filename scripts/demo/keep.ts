import { once } from 'node:events'
import { say } from './say.ts'
import type { Stage } from './stage.ts'

/** Tells where everything is, lets the chain mine by itself, and waits for Ctrl-C. */
export async function keepRunning(stage: Stage): Promise<void> {
  await stage.rpc('evm_setIntervalMining', [1])
  say.line('\nEverything keeps running; the chain mines every second. Ctrl-C ends it.\n')
  say.fact('console', `${stage.url}/console`)
  say.fact('its API key', stage.token)
  say.fact('API', `${stage.url}/api/v1`)
  say.fact('reference', `${stage.url}/docs`)
  say.fact('contract', `${stage.url}/openapi.yaml`)
  say.fact('chain', stage.rpcUrl)
  say.line('\n  Ask it something:\n')
  say.line(`  curl -s ${stage.url}/api/v1/relayers -H 'Authorization: Bearer ${stage.token}'`)
  const alive = setInterval(() => undefined, 60_000)
  // A closed terminal sends SIGHUP, and the chain and the service must not outlive it.
  await Promise.race(['SIGINT', 'SIGTERM', 'SIGHUP'].map((signal) => once(process, signal)))
  clearInterval(alive)
}
