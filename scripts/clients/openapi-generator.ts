import { JAR } from './install.ts'
import { CODEGEN_JSON } from './paths.ts'
import { run } from './run.ts'

export interface Target {
  readonly generator: 'go' | 'java' | 'python' | 'typescript-fetch'
  readonly folder: string
  /** Further arguments, e.g. `--additional-properties=…`. */
  readonly options?: readonly string[]
}

/** Documentation and empty tests take longer than the client. */
const CLIENT_ONLY =
  '--global-property=models,apis,supportingFiles,modelDocs=false,apiDocs=false,modelTests=false,apiTests=false'

/** Generates a client from the document for generators. openapi-generator validates the document first. */
export async function openapiGenerator({ generator, folder, options = [] }: Target): Promise<void> {
  // A short run spends its time on the optimising compiler otherwise.
  const java = ['java', '-XX:TieredStopAtLevel=1', '-jar', JAR]
  const arguments_ = ['generate', '-g', generator, '-i', CODEGEN_JSON, '-o', folder, CLIENT_ONLY, ...options]
  await run([...java, ...arguments_])
}
