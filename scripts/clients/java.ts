import { openapiGenerator } from './openapi-generator.ts'
import { OUT } from './paths.ts'
import { run } from './run.ts'
import type { Step } from './steps.ts'

/** Generators of Java. */
export const JAVA: readonly Step[] = [
  { name: 'openapi-generator: java', needs: 'java', run: openapiGeneratorJava },
]

async function openapiGeneratorJava(): Promise<void> {
  const folder = `${OUT}/java`
  await openapiGenerator({ generator: 'java', folder })
  await run(['mvn', '--batch-mode', '--quiet', 'compile'], { cwd: folder })
}
