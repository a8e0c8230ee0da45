import { type ChildProcess, fork } from 'node:child_process'
import { extname, join } from 'node:path'
import { builtFile } from '../../lib/package-files.ts'
import { RemoteFault } from '../remote/remote-key.ts'
import type { KeyLocation, ModuleAnswer, ModuleFault, ModuleRequest, ModuleResult } from './protocol.ts'

/** A PKCS#11 library in a separate process. */
export interface ModuleProcess {
  /** @throws RemoteFault */
  ask(question: Omit<ModuleRequest, 'number'>, signal: AbortSignal): Promise<ModuleResult>
}

/** The program is a source beside this source, or was built with this file. */
const PROGRAM =
  extname(import.meta.filename) === '.ts'
    ? join(import.meta.dirname, 'process/main.ts')
    : builtFile('signers/pkcs11/process/main.js')

/** A library is one thing per process, with one login per token, so its signers share it. */
const PROCESSES = new Map<string, ModuleProcess>()

/** Returns the process of a library. It starts with the first question, and again after it ended. */
export function moduleProcess(path: string): ModuleProcess {
  const known = PROCESSES.get(path)
  if (known !== undefined) return known
  const made = createModuleProcess(path)
  PROCESSES.set(path, made)
  return made
}

interface Waiting {
  readonly location: KeyLocation
  readonly resolve: (result: ModuleResult) => void
  readonly reject: (fault: RemoteFault) => void
}

/**
 * Creates the process of a library. A library that hangs or crashes affects only this process: native code
 * inside a process cannot be stopped, not even to shut down.
 */
function createModuleProcess(path: string): ModuleProcess {
  const waiting = new Map<number, Waiting>()
  const refused = new Map<string, RemoteFault>()
  let child: ChildProcess | undefined
  let [questions, answers] = [0, 0]

  function settle(message: ModuleAnswer): void {
    answers += 1
    const asked = waiting.get(message.number)
    waiting.delete(message.number)
    if (asked === undefined) return
    if ('result' in message) asked.resolve(message.result)
    else asked.reject(noted(asked.location, message.fault))
  }

  function noted(location: KeyLocation, { kind, message, isPinRefused }: ModuleFault): RemoteFault {
    const fault = new RemoteFault(kind, message)
    if (isPinRefused) refused.set(loginOf(location), fault)
    return fault
  }

  function end(ended: ChildProcess): void {
    if (child !== ended) return
    child = undefined
    const fault = new RemoteFault('unavailable', 'cannot be used: the process of its library ended')
    for (const { reject } of waiting.values()) reject(fault)
    waiting.clear()
  }

  function running(): ChildProcess {
    if (child !== undefined) return child
    const started = startProgram(path)
    child = started
    started.on('message', settle)
    started.on('error', () => end(started))
    started.on('exit', () => end(started))
    // The service may end while it runs.
    started.unref()
    started.channel?.unref()
    return started
  }

  function killStuck(stuck: ChildProcess): void {
    stuck.kill('SIGKILL')
    end(stuck)
  }

  return {
    ask: (question, signal) => {
      const refusal = refused.get(loginOf(question.location))
      if (refusal !== undefined) return Promise.reject(refusal)
      questions += 1
      const [number, asked, before] = [questions, running(), answers]
      return new Promise((resolve, reject) => {
        waiting.set(number, { location: question.location, resolve, reject })
        // A library that has answered nothing since the request hangs. A slow one answers other requests.
        signal.addEventListener('abort', () => {
          if (waiting.delete(number) && answers === before) killStuck(asked)
        })
        asked.send({ number, ...question } satisfies ModuleRequest, (error) => error && end(asked))
      })
    },
  }
}

/**
 * The variables that libraries of HSMs and their systems read. The library is third-party code in a separate
 * process: it must not see the API key, the database URL and the passphrases of this service. Vendors:
 * SoftHSM, Thales Luna, nShield, Utimaco, YubiHSM, AWS CloudHSM, Fortanix, OpenSC, p11-kit.
 */
const MODULE_VARIABLES =
  /^(PATH|HOME|USER|LANG|LC_\w+|TZ|TMPDIR|TEMP|TMP|LD_LIBRARY_PATH|DYLD_LIBRARY_PATH|SystemRoot|SOFTHSM2?_\w+|Chrystoki\w+|NFAST_\w+|CKNFAST_\w+|CS_PKCS11_\w+|YUBIHSM_\w+|CLOUDHSM_\w+|FORTANIX_PKCS11_\w+|FORTANIX_API_ENDPOINT|OPENSC_\w+|P11_KIT_\w+|PKCS11_\w+)$/

/** Returns the part of an environment that a library of an HSM gets. Pure. */
export function moduleEnvironment(all: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(all).filter(([name]) => MODULE_VARIABLES.test(name)))
}

function startProgram(path: string): ChildProcess {
  return fork(PROGRAM, [path], {
    execArgv: [],
    env: moduleEnvironment(process.env),
    serialization: 'advanced',
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
}

/**
 * Logins with a refused PIN are not repeated, even after the process restarts: the token could lock itself.
 */
function loginOf({ token, pin }: KeyLocation): string {
  return JSON.stringify([token, pin])
}
