import parser from '@apidevtools/swagger-parser';

try {
  await parser.validate(process.argv[2]);
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
}
