import { moduleProcesses } from '../../support/key-services/module-processes.ts'
import { createSoftHsm, TOKEN } from '../../support/key-services/softhsm.ts'
import { until } from '../../support/until.ts'
import { SECRET } from '../conformance/keys.ts'
import type { KeyHolder, Victim } from './key-holder.ts'
import { describeOutages } from './outage-suite.ts'

/** A library that crashes does so again after this time, in ms: sooner than its process can start. */
const CRASH_EVERY_MS = 20

/** A call can include the start of a process, which takes long on a busy machine, in ms. */
const TIMEOUT_MS = 5_000

describeOutages({ name: 'pkcs11', start: startHolder })

async function startHolder(): Promise<KeyHolder> {
  const hsm = await createSoftHsm([{ label: 'payouts', id: '0a', curve: 'secp256k1', secret: SECRET }])
  let isAway = false
  let crashing: NodeJS.Timeout | undefined

  async function unplug(): Promise<void> {
    if (!isAway) await hsm.unplug()
    isAway = true
  }

  /** The library keeps what it has read of its token until it starts again. */
  async function takeAway({ pid }: Victim): Promise<void> {
    await unplug()
    signal(pid, 'SIGKILL')
  }

  /** The process that takes the place of the one that hangs finds no token. */
  async function stopLibrary({ pid }: Victim): Promise<number[]> {
    await unplug()
    return signal(pid, 'SIGSTOP')
  }

  return {
    signer: {
      type: 'pkcs11',
      config: {
        module_path: hsm.modulePath,
        token_label: TOKEN.label,
        key_id: '0A',
        pin: { type: 'plain', value: TOKEN.pin },
      },
    },
    env: hsm.env,
    timeoutMs: TIMEOUT_MS,
    gone: { name: 'has no token', begin: takeAway },
    outages: [
      { name: 'has no token', begin: takeAway },
      { name: 'hangs', begin: async (service) => void (await stopLibrary(service)) },
      {
        name: 'crashes',
        begin: ({ pid }) => {
          // The process that runs could sign everything before the first round.
          signal(pid, 'SIGKILL')
          crashing = setInterval(() => signal(pid, 'SIGKILL'), CRASH_EVERY_MS)
        },
      },
    ],
    withhold: async (service) => {
      const stopped = await stopLibrary(service)
      // A call that was under way in it gives up and is repeated in a new process.
      const isReplaced = (running: readonly number[]) => !stopped.some((pid) => running.includes(pid))
      return { underWay: until(async () => moduleProcesses(service.pid), isReplaced).then(() => undefined) }
    },
    recover: async () => {
      clearInterval(crashing)
      if (isAway) await hsm.plugIn()
      isAway = false
    },
    stop: hsm.remove,
  }
}

/** Sends a signal to the library of a service; returns the processes that got it. */
function signal(service: number, name: 'SIGKILL' | 'SIGSTOP'): number[] {
  return moduleProcesses(service).filter((pid) => {
    try {
      return process.kill(pid, name)
    } catch (error) {
      // It ended after it was listed.
      if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false
      throw error
    }
  })
}
