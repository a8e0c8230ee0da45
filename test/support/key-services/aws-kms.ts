import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdir, rename, rm, writeFile } from 'node:fs/promises'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** The packages of the key services that tests run. moto serves AWS KMS. */
const PACKAGES = ['moto==5.2.5', 'flask==3.1.2', 'flask-cors==6.0.1']

const CACHE = fileURLToPath(new URL('../../../node_modules/.cache/', import.meta.url))

/** An installation may take this long, in ms; another test file may be making the same one. */
const INSTALL_MS = 300_000

/** Returns a Python with the packages, in a virtual environment that is made once. It needs Python 3 with venv, and the registry once. */
async function pythonWithTools(): Promise<string> {
  const name = PACKAGES.join('-').replaceAll('==', '-')
  const folder = `${CACHE}${name}`
  const python = `${folder}/bin/python`
  const ready = `${folder}/ready`
  if (existsSync(ready)) return python
  // Test files run in several processes: each makes its own, and the first that is complete stays.
  const own = `${folder}-${process.pid}`
  await mkdir(CACHE, { recursive: true })
  await run('python3', ['-m', 'venv', own])
  await run(`${own}/bin/python`, ['-m', 'pip', 'install', '--quiet', ...PACKAGES], { timeout: INSTALL_MS })
  await writeFile(`${own}/ready`, '')
  await rename(own, folder).catch(() => rm(own, { recursive: true }))
  return python
}

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

/** Counts the keys of a server, asked directly. */
export async function countKeys({ url }: AwsKms): Promise<number> {
  const { KMSClient, ListKeysCommand } = await import('@aws-sdk/client-kms')
  const client = new KMSClient({
    region: REGION,
    endpoint: url,
    credentials: {
      accessKeyId: AWS_ENV.AWS_ACCESS_KEY_ID,
      secretAccessKey: AWS_ENV.AWS_SECRET_ACCESS_KEY,
    },
  })
  try {
    return (await client.send(new ListKeysCommand({ Limit: 1_000 }))).Keys?.length ?? 0
  } finally {
    client.destroy()
  }
}
