import { app, input } from '@azure/functions';

const blogs = input.sql({
  commandText: 'exec BlogProc',
  commandType: 'Text',
  connectionStringSetting: 'SqlConnectionString',
});

app.http('Blog', {
  methods: ['GET'],
  authLevel: 'anonymous',
  extraInputs: [blogs],
  handler: (_request, context) => ({ jsonBody: context.extraInputs.get(blogs) }),
});
