import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { pythonWithTools } from './python-tools.ts'

export const REGION = 'eu-west-1'

/** A key as the server makes it: the same secret gives the same key after each start. */
export interface KmsKey {
  readonly alias: string
  readonly spec: 'ECC_SECG_P256K1' | 'ECC_NIST_EDWARDS25519'
  /** 64 hex digits, or EXTERNAL for a key that waits for an import. */
  readonly secret: string
}

/** AWS KMS, served by moto in a process of its own. */
export interface AwsKms {
  readonly port: number
  readonly url: string
  stop(): Promise<void>
}

/** moto accepts any credentials; the SDK wants some. */
export const AWS_ENV = { AWS_ACCESS_KEY_ID: 'testing', AWS_SECRET_ACCESS_KEY: 'testing' }

/** Starts the server with these keys, on a free port or on this one. */
export async function startAwsKms(keys: readonly KmsKey[], port = 0): Promise<AwsKms> {
  const script = fileURLToPath(new URL('moto-kms.py', import.meta.url))
  const described = keys.map(({ alias, spec, secret }) => `${alias}=${spec}=${secret}`)
  const child = spawn(await pythonWithTools(), [script, String(port), REGION, ...described], {
    stdio: ['pipe', 'pipe', 'ignore'],
    env: { ...process.env, ...AWS_ENV },
  })
  const exited = once(child, 'exit')
  const [line] = await Promise.race([
    once(createInterface(child.stdout), 'line'),
    exited.then(([code]) => [`moto ended with code ${code}`]),
  ])
  const found = /^ready (\d+)$/.exec(String(line))?.[1]
  if (found === undefined) throw new Error(String(line))
  return {
    port: Number(found),
    url: `http://127.0.0.1:${found}`,
    stop: async () => {
      child.kill('SIGKILL')
      await exited
    },
  }
}
